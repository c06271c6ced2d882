// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/rotated_overlap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace ridgeline::stream {
namespace {

/// Four sides cut off at four sides have eight corners at most.
struct Polygon {
  std::array<Point, 8> corners{};
  std::size_t size = 0;
  void add(Point corner) {
    if (size < corners.size()) corners[size++] = corner;
  }
  [[nodiscard]] std::span<const Point> points() const { return std::span(corners).first(size); }
};

double turn_of(Point a, Point b) { return a.x * b.y - a.y * b.x; }

double signed_area(std::span<const Point> corners) {
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) twice += turn_of(corners[i], corners[(i + 1) % corners.size()]);
  return twice / 2;
}

Polygon cut_at(const Polygon& polygon, Point from, Point to, double turn) {
  Polygon out;
  const auto inside = [&](Point point) { return turn * turn_of(to - from, point - from); };
  for (std::size_t i = 0; i < polygon.size; ++i) {
    const Point here = polygon.corners[i];
    const Point next = polygon.corners[(i + 1) % polygon.size];
    const double here_in = inside(here);
    const double next_in = inside(next);
    if (here_in >= 0) out.add(here);
    if ((here_in > 0 && next_in < 0) || (here_in < 0 && next_in > 0))
      out.add(here + (next - here) * (here_in / (here_in - next_in)));
  }
  return out;
}

}  // namespace

double overlap_ratio(const Quad& a, const Quad& b) {
  const double area_a = std::abs(signed_area(a));
  const double signed_b = signed_area(b);
  const double area_b = std::abs(signed_b);
  Polygon common;
  for (const auto& corner : a) common.add(corner);
  for (std::size_t i = 0; i < b.size() && common.size > 0; ++i)
    common = cut_at(common, b[i], b[(i + 1) % b.size()], signed_b < 0 ? -1 : 1);
  const double both = std::min({std::abs(signed_area(common.points())), area_a, area_b});
  const double all = area_a + area_b - both;
  return all > 0 ? both / all : 0;
}

}  // namespace ridgeline::stream
