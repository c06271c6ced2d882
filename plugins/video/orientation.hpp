// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ridgeline::video_plugin {

/// The eight ways in which a picture may be stored, by EXIF's numbers: what has to be done to see it.
enum class Orientation : std::uint8_t {
  normal = 1,
  mirrored,        ///< left and right change places
  half_turn,       ///< by 180 degrees
  flipped,         ///< top and bottom change places
  transposed,      ///< rows become columns
  quarter_turn,    ///< by 90 degrees clockwise
  transversed,     ///< transposed, then turned by 180 degrees
  three_quarters,  ///< by 270 degrees clockwise
};

[[nodiscard]] constexpr bool swaps_sides(Orientation orientation) noexcept {
  return orientation >= Orientation::transposed;
}

/// Of a container's display matrix (nine numbers, FFmpeg's layout). One that turns by no quarter turns is `normal`, and
/// `other_angle` its angle, clockwise in degrees; 0 of all others.
[[nodiscard]] Orientation orientation_of(const std::int32_t* matrix, double& other_angle) noexcept;

/// Rows of pixels.
struct PixelRows {
  const std::uint8_t* bytes;
  std::ptrdiff_t stride;
  int width;
  int height;
  int pixel_bytes;  ///< 1, 2 or 3
};

/// Writes the rows as they are to be seen; `to_stride`: of the result's.
void orient(const PixelRows& from, Orientation orientation, std::uint8_t* to, std::ptrdiff_t to_stride) noexcept;

}  // namespace ridgeline::video_plugin
