// SPDX-License-Identifier: Apache-2.0
#include "schema/workload_name.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace ridgeline::schema {
namespace {

using KindAndLocation = std::pair<std::string, std::string>;

KindAndLocation named(const char* model) {
  const auto workload = workload_named(model);
  return {workload.kind, workload.location};
}

TEST(WorkloadName, tells_simulated_models_from_files) {
  EXPECT_EQ(named("synthetic"), KindAndLocation("synthetic", ""));
  EXPECT_EQ(named("synthetic:"), KindAndLocation("synthetic", ""));
  EXPECT_EQ(named("synthetic:a=1"), KindAndLocation("synthetic", "a=1"));
  EXPECT_EQ(named("synthetic.onnx"), KindAndLocation("onnx", "synthetic.onnx"));
  EXPECT_EQ(named("folder/model.onnx"), KindAndLocation("onnx", "folder/model.onnx"));
}

}  // namespace
}  // namespace ridgeline::schema
