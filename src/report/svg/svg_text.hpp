// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::report {

enum class Letters { plain, bold, mono };

/// How wide a text is at most, in pixels, in the fonts that browsers have: no font is at hand to measure with.
[[nodiscard]] double text_width(std::string_view text, double size_px, Letters letters);

/// Part of a line in one kind of letters.
struct Piece {
  std::string text;
  Letters letters = Letters::plain;
};
using Line = std::vector<Piece>;

/// Inline text in lines of at most that width; a word that is wider is divided.
[[nodiscard]] std::vector<Line> wrap_inline(std::string_view text, double size_px, double width_px);

}  // namespace ridgeline::report
