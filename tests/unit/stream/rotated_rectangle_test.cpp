// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/rotated_rectangle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stream {
namespace {

RotatedRectangle around(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); });
  std::vector<Point> hull;
  convex_hull(points, hull);
  return min_area_rectangle(hull);
}

/// Over all directions in steps of a hundredth of a degree.
double least_area(const std::vector<Point>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 9000; ++i) {
    const double angle = i * std::numbers::pi / 18000;
    const double c = std::cos(angle), s = std::sin(angle);
    double low_u = 1e9, high_u = -1e9, low_v = 1e9, high_v = -1e9;
    for (const auto& p : points) {
      low_u = std::min(low_u, p.x * c + p.y * s);
      high_u = std::max(high_u, p.x * c + p.y * s);
      low_v = std::min(low_v, p.y * c - p.x * s);
      high_v = std::max(high_v, p.y * c - p.x * s);
    }
    least = std::min(least, (high_u - low_u) * (high_v - low_v));
  }
  return least;
}

TEST(RotatedRectangle, corners_go_clockwise_from_the_top_left) {
  const auto corners = around({{1, 2}, {11, 2}, {11, 6}, {1, 6}}).corners();
  const std::array<Point, 4> expected{Point{1, 2}, {11, 2}, {11, 6}, {1, 6}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(corners[i].x, expected[i].x, 1e-9);
    EXPECT_NEAR(corners[i].y, expected[i].y, 1e-9);
  }
}

TEST(RotatedRectangle, is_as_small_as_a_search_over_all_directions_and_holds_all_points) {
  base::Random random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<Point> points;
    const int count = 3 + static_cast<int>(random.uniform() * 40);
    const double stretch = 0.1 + random.uniform();
    for (int i = 0; i < count; ++i)
      points.push_back({std::floor(random.uniform() * 200), std::floor(random.uniform() * 200 * stretch)});
    const auto found = around(points);
    const double least = least_area(points);
    EXPECT_LE(found.width * found.height, least * 1.0001 + 1e-6) << round;
    for (const auto& p : points) {
      const double dx = p.x - found.centre.x, dy = p.y - found.centre.y;
      EXPECT_LE(std::abs(dx * found.axis.x + dy * found.axis.y), found.width / 2 + 1e-6);
      EXPECT_LE(std::abs(dy * found.axis.x - dx * found.axis.y), found.height / 2 + 1e-6);
    }
  }
}

TEST(RotatedRectangle, of_a_point_or_a_line_has_no_area) {
  EXPECT_EQ(around({}).shorter_side(), 0);
  EXPECT_EQ(around({{3, 4}}).shorter_side(), 0);
  EXPECT_EQ(around({{3, 4}}).centre, (Point{3, 4}));
  EXPECT_EQ(around({{3, 4}, {3, 4}}).shorter_side(), 0);
  const auto line = around({{0, 0}, {1, 1}, {2, 2}, {5, 5}});
  EXPECT_NEAR(line.shorter_side(), 0, 1e-9);
  EXPECT_NEAR(std::max(line.width, line.height), std::hypot(5, 5), 1e-9);
}

}  // namespace
}  // namespace ridgeline::stream
