// SPDX-License-Identifier: Apache-2.0
#include "orientation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numbers>

namespace ridgeline::video_plugin {
namespace {

/// A quarter turn reads columns: of a square this size, whose lines stay in the first cache.
constexpr int kBlock = 32;
/// Matrices are products of roundings: what is this much smaller than the largest term is none.
constexpr double kNone = 1e-3;

/// Where the pixel at the result's (0, 0) is, and how far its neighbours are.
struct Walk {
  std::ptrdiff_t begin;
  std::ptrdiff_t right;
  std::ptrdiff_t down;
};

Walk walk_of(const PixelRows& from, Orientation orientation) noexcept {
  const std::ptrdiff_t pixel = from.pixel_bytes;
  const std::ptrdiff_t row = from.stride;
  const std::ptrdiff_t last_column = (from.width - 1) * pixel;
  const std::ptrdiff_t last_row = (from.height - 1) * row;
  switch (orientation) {
    case Orientation::mirrored: return {last_column, -pixel, row};
    case Orientation::half_turn: return {last_row + last_column, -pixel, -row};
    case Orientation::flipped: return {last_row, pixel, -row};
    case Orientation::transposed: return {0, row, pixel};
    case Orientation::quarter_turn: return {last_row, -row, pixel};
    case Orientation::transversed: return {last_row + last_column, -row, -pixel};
    case Orientation::three_quarters: return {last_column, row, -pixel};
    case Orientation::normal: break;
  }
  return {0, pixel, row};
}

template <int kPixelBytes>
void copy(const PixelRows& from, Orientation orientation, std::uint8_t* to, std::ptrdiff_t to_stride) noexcept {
  const auto walk = walk_of(from, orientation);
  const int width = swaps_sides(orientation) ? from.height : from.width;
  const int height = swaps_sides(orientation) ? from.width : from.height;
  for (int top = 0; top < height; top += kBlock)
    for (int left = 0; left < width; left += kBlock)
      for (int y = top; y < std::min(top + kBlock, height); ++y) {
        const auto* source = from.bytes + walk.begin + y * walk.down + left * walk.right;
        auto* target = to + y * to_stride + left * kPixelBytes;
        for (int x = left; x < std::min(left + kBlock, width); ++x, source += walk.right, target += kPixelBytes)
          std::memcpy(target, source, kPixelBytes);
      }
}

}  // namespace

Orientation orientation_of(const std::int32_t* matrix, double& other_angle) noexcept {
  // A stored (x, y) is shown at (a x + c y, b x + d y), y downwards.
  std::array<double, 4> terms{static_cast<double>(matrix[0]), static_cast<double>(matrix[1]),
                              static_cast<double>(matrix[3]), static_cast<double>(matrix[4])};
  double largest = 0;
  for (const double term : terms) largest = std::max(largest, std::abs(term));
  other_angle = 0;
  if (largest == 0) return Orientation::normal;
  for (auto& term : terms)
    if (std::abs(term) < kNone * largest) term = 0;
  const auto& [a, b, c, d] = terms;
  if (b == 0 && c == 0 && a != 0 && d != 0)
    return a > 0 ? (d > 0 ? Orientation::normal : Orientation::flipped)
                 : (d > 0 ? Orientation::mirrored : Orientation::half_turn);
  if (a == 0 && d == 0 && b != 0 && c != 0)
    return b > 0 ? (c > 0 ? Orientation::transposed : Orientation::quarter_turn)
                 : (c > 0 ? Orientation::three_quarters : Orientation::transversed);
  const double angle = std::atan2(b, a) * 180 / std::numbers::pi;
  other_angle = angle < 0 ? angle + 360 : angle;
  return Orientation::normal;
}

void orient(const PixelRows& from, Orientation orientation, std::uint8_t* to, std::ptrdiff_t to_stride) noexcept {
  switch (from.pixel_bytes) {
    case 1: return copy<1>(from, orientation, to, to_stride);
    case 2: return copy<2>(from, orientation, to, to_stride);
    default: return copy<3>(from, orientation, to, to_stride);
  }
}

}  // namespace ridgeline::video_plugin
