// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace ridgeline::stream {

/// In pixels, x to the right and y down; whole numbers are the pixels' edges.
struct Point {
  double x = 0;
  double y = 0;

  friend bool operator==(const Point&, const Point&) = default;
  friend Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(const Point& a, double factor) { return {a.x * factor, a.y * factor}; }
};

/// Corners from the top left one clockwise.
using Quad = std::array<Point, 4>;

}  // namespace ridgeline::stream
