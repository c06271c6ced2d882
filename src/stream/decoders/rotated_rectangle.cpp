// SPDX-License-Identifier: Apache-2.0
// Hull: Andrew's monotone chain (1979). Rectangle: one side of the smallest lies on a side of the hull (Freeman and
// Shapira 1975), and the extreme corners only go forward as the sides are visited: rotating calipers (Toussaint 1983).
#include "stream/decoders/rotated_rectangle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace ridgeline::stream {
namespace {

double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
Point minus(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }

void extend_chain(std::vector<Point>& hull, std::size_t keep, Point point) {
  while (hull.size() >= keep + 2 && cross(minus(hull.back(), hull[hull.size() - 2]), minus(point, hull.back())) <= 0)
    hull.pop_back();
  hull.push_back(point);
}

}  // namespace

Quad RotatedRectangle::corners() const {
  const Point u{axis.x * width / 2, axis.y * width / 2};
  const Point v{-axis.y * height / 2, axis.x * height / 2};
  std::array<Point, 4> found{Point{centre.x - u.x - v.x, centre.y - u.y - v.y},
                             {centre.x + u.x - v.x, centre.y + u.y - v.y},
                             {centre.x + u.x + v.x, centre.y + u.y + v.y},
                             {centre.x - u.x + v.x, centre.y - u.y + v.y}};
  std::sort(found.begin(), found.end(), [](Point a, Point b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
  if (found[0].y > found[1].y) std::swap(found[0], found[1]);
  if (found[2].y > found[3].y) std::swap(found[2], found[3]);
  return {found[0], found[2], found[3], found[1]};
}

RotatedRectangle RotatedRectangle::grown(double distance) const noexcept {
  return {centre, axis, width + 2 * distance, height + 2 * distance};
}

void convex_hull(std::span<const Point> points, std::vector<Point>& hull) {
  hull.clear();
  for (const auto& point : points) extend_chain(hull, 0, point);
  const std::size_t lower = hull.size();
  if (lower < 2) return;
  for (std::size_t i = points.size() - 1; i-- > 0;) extend_chain(hull, lower - 1, points[i]);
  hull.pop_back();
}

RotatedRectangle min_area_rectangle(std::span<const Point> hull) {
  RotatedRectangle best;
  if (hull.empty()) return best;
  best.centre = hull[0];
  if (hull.size() < 2) return best;
  const std::size_t count = hull.size();
  const auto at = [&](std::size_t i) { return hull[i % count]; };
  double best_area = std::numeric_limits<double>::infinity();
  std::size_t far = 1;   // along the side
  std::size_t top = 1;   // away from the side
  std::size_t near = 0;  // against the side
  for (std::size_t i = 0; i < count; ++i) {
    const Point side = minus(at(i + 1), at(i));
    const double length = std::hypot(side.x, side.y);
    if (length <= 0) continue;
    const Point axis{side.x / length, side.y / length};
    const auto along = [&](std::size_t k) { return dot(axis, minus(at(k), at(i))); };
    const auto away = [&](std::size_t k) { return cross(axis, minus(at(k), at(i))); };
    far = std::max(far, i + 1);
    while (far < i + count && along(far + 1) > along(far)) ++far;
    top = std::max(top, far);
    while (top < i + count && away(top + 1) > away(top)) ++top;
    near = std::max(near, top);
    while (near < i + count && along(near + 1) < along(near)) ++near;
    const double width = along(far) - along(near);
    const double height = away(top);
    if (width * height >= best_area) continue;
    best_area = width * height;
    const double middle = (along(far) + along(near)) / 2;
    best.axis = axis;
    best.width = width;
    best.height = height;
    best.centre = {at(i).x + axis.x * middle - axis.y * height / 2, at(i).y + axis.y * middle + axis.x * height / 2};
  }
  return best;
}

}  // namespace ridgeline::stream
