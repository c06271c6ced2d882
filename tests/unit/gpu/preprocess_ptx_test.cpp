// SPDX-License-Identifier: Apache-2.0
#include "gpu/preprocess_ptx.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace ridgeline::gpu {
namespace {

TEST(PreprocessPtx, is_for_drivers_of_cuda_12_0_and_gpus_of_7_0) {
  const std::string_view ptx = preprocess_ptx();
  if (ptx.empty()) GTEST_SKIP() << "a build without NVRTC (scripts/fetch_wheels.sh nvrtc)";
  for (const auto* line : {".version 8.0\n", ".target sm_70\n", ".address_size 64\n"})
    EXPECT_NE(ptx.substr(0, 1000).find(line), std::string_view::npos) << line << ptx.substr(0, 1000);
  EXPECT_NE(ptx.find(".visible .entry ridgeline_preprocess("), std::string_view::npos);
  EXPECT_EQ(ptx.find("fma."), std::string_view::npos) << "values have other bits than the CPU's";
  EXPECT_EQ(ptx.find(".local"), std::string_view::npos) << "arrays of a pixel belong into registers";
}

}  // namespace
}  // namespace ridgeline::gpu
