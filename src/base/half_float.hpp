// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace ridgeline::base {

/// The bits of the nearest IEEE 754 half (ties to even); beyond 65504 infinity, NaN stays NaN. F. Giesen's
/// float_to_half_fast3_rtne (public domain), all cases of which are computed and one is masked: loops over it
/// vectorize.
[[nodiscard]] inline std::uint16_t to_half(float value) noexcept {
  constexpr std::int32_t kInfinity = 255 << 23;
  constexpr std::int32_t kHalfLimit = (127 + 16) << 23;
  constexpr std::int32_t kSmallestNormal = 113 << 23;
  constexpr std::int32_t kDenormalMagic = ((127 - 15) + (23 - 10) + 1) << 23;
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  const auto all_bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t bits = all_bits & 0x7fffffff;
  const std::int32_t huge = bits > kInfinity ? 0x7e00 : 0x7c00;
  // The addition shifts the ten bits into place and rounds them.
  const float shifted = std::bit_cast<float>(bits) + std::bit_cast<float>(kDenormalMagic);
  const std::int32_t tiny = std::bit_cast<std::int32_t>(shifted) - kDenormalMagic;
  const std::int32_t normal = (bits - kRebias + 0xfff + ((bits >> 13) & 1)) >> 13;
  const std::int32_t is_huge = -static_cast<std::int32_t>(bits >= kHalfLimit);
  const std::int32_t is_tiny = -static_cast<std::int32_t>(bits < kSmallestNormal);
  const std::int32_t half = (huge & is_huge) | (tiny & is_tiny) | (normal & ~(is_huge | is_tiny));
  return static_cast<std::uint16_t>(half | ((all_bits >> 16) & 0x8000));
}

}  // namespace ridgeline::base
