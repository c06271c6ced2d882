// SPDX-License-Identifier: Apache-2.0
#include "host/float_mode.hpp"

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

#if defined(__x86_64__)

class FloatModeTest : public ::testing::Test {
 protected:
  void TearDown() override { set_float_mode(false); }
  static float times(float a, float b) {
    volatile float x = a;
    volatile float y = b;
    volatile float product = x * y;
    return product;
  }
};

TEST_F(FloatModeTest, says_whether_denormal_numbers_were_met) {
  set_float_mode(false);
  EXPECT_EQ(times(2.0F, 3.0F), 6.0F);
  EXPECT_FALSE(has_met_denormals());
  EXPECT_GT(times(1e-41F, 0.5F), 0.0F);
  EXPECT_TRUE(has_met_denormals()) << "as an operand";
  set_float_mode(false);
  EXPECT_FALSE(has_met_denormals()) << "forgotten";
  EXPECT_GT(times(1e-30F, 1e-10F), 0.0F);
  EXPECT_TRUE(has_met_denormals()) << "as a result";
}

TEST_F(FloatModeTest, makes_zeros_of_them_until_it_is_set_again) {
  set_float_mode(true);
  EXPECT_EQ(times(1e-41F, 1e10F), 0.0F);
  EXPECT_EQ(times(1e-30F, 1e-10F), 0.0F);
  EXPECT_EQ(times(2.0F, 3.0F), 6.0F);
  set_float_mode(false);
  EXPECT_GT(times(1e-41F, 1e10F), 0.0F);
}

#endif

}  // namespace
}  // namespace ridgeline::host
