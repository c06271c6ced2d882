// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <utf8proc.h>

namespace ridgeline::base {

Utf8Character first_character(std::string_view text) noexcept {
  utf8proc_int32_t point = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (length <= 0) return {};
  return {static_cast<char32_t>(point), static_cast<std::size_t>(length), true};
}

std::string utf8(char32_t point) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(point), bytes);
  return {bytes, bytes + length};
}

std::size_t columns_of(char32_t point) noexcept {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(point)));
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto character = first_character(text);
    columns += columns_of(character.point);
    text.remove_prefix(character.length);
  }
  return columns;
}

}  // namespace ridgeline::base
