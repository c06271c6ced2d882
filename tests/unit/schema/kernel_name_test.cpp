// SPDX-License-Identifier: Apache-2.0
#include "schema/kernel_name.hpp"

#include <gtest/gtest.h>

namespace ridgeline::schema {
namespace {

TEST(ShortKernelName, begins_with_what_differs) {
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::f<4, float>(int, at::T<1>)"), "f<4, float>");
  EXPECT_EQ(short_kernel_name("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(short_kernel_name("()"), "()");
  EXPECT_EQ(short_kernel_name("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
}

}  // namespace
}  // namespace ridgeline::schema
