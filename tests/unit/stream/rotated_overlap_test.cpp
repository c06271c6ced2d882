// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/rotated_overlap.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stream/decoders/rotated_rectangle.hpp"

namespace ridgeline::stream {
namespace {

Quad rectangle(double x, double y, double width, double height, double angle) {
  return RotatedRectangle{{x, y}, {std::cos(angle), std::sin(angle)}, width, height}.corners();
}

TEST(RotatedOverlap, is_what_geometry_says) {
  const auto square = rectangle(10, 10, 4, 4, 0);
  EXPECT_NEAR(overlap_ratio(square, square), 1, 1e-12);
  EXPECT_NEAR(overlap_ratio(square, rectangle(12, 10, 4, 4, 0)), 8.0 / 24, 1e-12);
  EXPECT_EQ(overlap_ratio(square, rectangle(20, 10, 4, 4, 0.3)), 0);
  // A square turned by 45 degrees around the same centre: a regular octagon is common.
  const double octagon = 32 * (std::sqrt(2.0) - 1);
  EXPECT_NEAR(overlap_ratio(square, rectangle(10, 10, 4, 4, std::acos(0.0) / 2)), octagon / (32 - octagon), 1e-9);
  EXPECT_EQ(overlap_ratio(rectangle(1, 1, 0, 0, 0), rectangle(1, 1, 0, 0, 0)), 0);
}

TEST(RotatedOverlap, is_symmetric_and_within_0_and_1) {
  base::Random random(7);
  const auto any = [&] {
    return rectangle(random.uniform() * 10, random.uniform() * 10, random.uniform() * 10, random.uniform() * 10,
                     random.uniform() * 3);
  };
  for (int round = 0; round < 500; ++round) {
    const auto a = any();
    const auto b = any();
    EXPECT_NEAR(overlap_ratio(a, b), overlap_ratio(b, a), 1e-9);
    EXPECT_GE(overlap_ratio(a, b), 0);
    EXPECT_LE(overlap_ratio(a, b), 1 + 1e-9);
  }
}

}  // namespace
}  // namespace ridgeline::stream
