// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace ridgeline::stream {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

/// A character's columns from the left, the lowest bit on top; a question mark for what is not printable ASCII.
[[nodiscard]] const std::array<std::uint8_t, kGlyphWidth>& glyph_of(char character) noexcept;

}  // namespace ridgeline::stream
