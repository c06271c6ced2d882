// SPDX-License-Identifier: Apache-2.0
#include "base/exit_code.hpp"

#include <gtest/gtest.h>

namespace ridgeline::base {
namespace {

// A fault of the user's that ends with 70 is taken for one of ours.
TEST(ExitCode, only_our_own_faults_are_internal) {
  for (int number = 0; number <= static_cast<int>(ErrorCode::internal); ++number) {
    const auto code = static_cast<ErrorCode>(number);
    const auto expected = code == ErrorCode::internal ? 70 : code == ErrorCode::cancelled ? 130 : 2;
    EXPECT_EQ(exit_code_of(code), expected) << to_string(code);
  }
}

}  // namespace
}  // namespace ridgeline::base
