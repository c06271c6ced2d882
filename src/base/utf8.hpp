// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ridgeline::base {

struct Utf8Character {
  char32_t point = 0xFFFD;  ///< U+FFFD where the bytes are no character
  std::size_t length = 1;
  bool valid = false;
};

/// The character at the start of `text`, which must not be empty; of broken bytes the first one.
[[nodiscard]] Utf8Character first_character(std::string_view text) noexcept;

/// The UTF-8 form of one character.
[[nodiscard]] std::string utf8(char32_t point);

/// Terminal columns: none for combining marks and control characters, two for wide scripts, else one.
[[nodiscard]] std::size_t columns_of(char32_t point) noexcept;
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// At most `columns` columns; a shortened text ends in "…".
[[nodiscard]] std::string shorten(std::string_view text, std::size_t columns);

/// As shorten, but keeps the end: what a program said last matters most.
[[nodiscard]] std::string shorten_front(std::string_view text, std::size_t columns);

}  // namespace ridgeline::base
