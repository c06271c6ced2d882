// SPDX-License-Identifier: Apache-2.0
#include "workload/half.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

TEST(Half, every_bit_pattern_survives_the_round_trip) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value)))) << bits;
    else
      EXPECT_EQ(float_to_half(value), half) << bits;
  }
}

TEST(Half, known_values_convert_exactly) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0F);
  EXPECT_EQ(half_to_float(0xC000), -2.0F);
  EXPECT_EQ(half_to_float(0x7BFF), 65504.0F);
  EXPECT_EQ(half_to_float(0x0001), 0x1.0p-24F);
  EXPECT_EQ(half_to_float(0x7C00), std::numeric_limits<float>::infinity());
}

TEST(Half, rounding_is_to_nearest_even_and_too_large_is_infinite) {
  EXPECT_EQ(float_to_half(1.0F + 0x1.0p-11F), 0x3C00);  // a tie goes to the even mantissa
  EXPECT_EQ(float_to_half(1.0F + 3 * 0x1.0p-11F), 0x3C02);
  EXPECT_EQ(float_to_half(65519.0F), 0x7BFF);
  EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
  EXPECT_EQ(float_to_half(-1e30F), 0xFC00);
  EXPECT_EQ(float_to_half(0x1.0p-25F), 0x0000);  // half of the smallest, to even
  EXPECT_EQ(float_to_half(0x1.8p-25F), 0x0001);
}

TEST(Bfloat16, every_bit_pattern_survives_the_round_trip) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto value = bfloat16_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(float_to_bfloat16(value), bits) << bits;
  }
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(float_to_bfloat16(1.0F + 0x1.0p-8F), 0x3F80);
}

}  // namespace
}  // namespace ridgeline::workload
