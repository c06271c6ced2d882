// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::config {

/// Bytes [begin, end) become `text`; begin == end inserts.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// Applies edits given in any order; insertions at one offset keep their order. Edits must not overlap.
[[nodiscard]] std::string apply_edits(std::string_view text, std::vector<TextEdit> edits);

/// The offset of the line break (or the end of the text) that ends the line holding `offset`. Counts the breaks that
/// YAML 1.1 knows: LF, CR, NEL, LS, PS.
[[nodiscard]] std::size_t line_end(std::string_view text, std::size_t offset);

/// The offset of the first byte of the line holding `offset`.
[[nodiscard]] std::size_t line_begin(std::string_view text, std::size_t offset);

/// "\n", "\r\n" or "\r": what ends the line holding `offset`; of the last line, which may have none, the one before it;
/// "\n" where there is none either.
[[nodiscard]] std::string_view newline_near(std::string_view text, std::size_t offset);

}  // namespace ridgeline::config
