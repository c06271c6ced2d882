// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace ridgeline::stream {

/// The bits of the nearest IEEE 754 half (ties to even); beyond 65504 infinity, NaN stays NaN. F. Giesen's
/// float_to_half_fast3_rtne (public domain).
[[nodiscard]] inline std::uint16_t to_half(float value) noexcept {
  constexpr std::uint32_t kInfinity = 255U << 23;
  constexpr std::uint32_t kHalfLimit = (127U + 16) << 23;
  constexpr std::uint32_t kSmallestNormal = 113U << 23;
  constexpr std::uint32_t kDenormalMagic = ((127U - 15) + (23 - 10) + 1) << 23;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits & 0x80000000U;
  bits ^= sign;
  std::uint32_t half = 0;
  if (bits >= kHalfLimit) {
    half = bits > kInfinity ? 0x7e00U : 0x7c00U;
  } else if (bits < kSmallestNormal) {
    // The addition shifts the ten bits into place and rounds them.
    const float shifted = std::bit_cast<float>(bits) + std::bit_cast<float>(kDenormalMagic);
    half = std::bit_cast<std::uint32_t>(shifted) - kDenormalMagic;
  } else {
    const std::uint32_t odd = (bits >> 13) & 1U;
    half = (bits + ((15U - 127U) << 23) + 0xfffU + odd) >> 13;
  }
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

}  // namespace ridgeline::stream
