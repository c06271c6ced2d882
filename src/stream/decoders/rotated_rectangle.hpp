// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stream/point.hpp"

namespace ridgeline::stream {

/// A rectangle at any angle.
struct RotatedRectangle {
  Point centre;
  Point axis{1, 0};  ///< unit vector along the width
  double width = 0;
  double height = 0;

  /// From the top left one clockwise (y points down): of the two leftmost corners the upper one comes first.
  [[nodiscard]] Quad corners() const;
  [[nodiscard]] double shorter_side() const noexcept { return width < height ? width : height; }
  /// Larger by `distance` on each side.
  [[nodiscard]] RotatedRectangle grown(double distance) const noexcept;
};

/// The corners of the convex hull in turning order, without those on a straight line. `points` are sorted by y, then x;
/// `hull` is overwritten. O(points).
void convex_hull(std::span<const Point> points, std::vector<Point>& hull);

/// The smallest rectangle around a convex hull; has no size for fewer than two points. O(hull).
[[nodiscard]] RotatedRectangle min_area_rectangle(std::span<const Point> hull);

}  // namespace ridgeline::stream
