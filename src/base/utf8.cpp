// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <utf8proc.h>

namespace ridgeline::base {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

}  // namespace

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

std::string shorten(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t kept = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto character = first_character(text.substr(at));
    const auto width = columns_of(character.point);
    if (kept + width > columns - 1) break;
    kept += width;
    at += character.length;
  }
  auto head = text.substr(0, at);
  while (!head.empty() && head.back() == ' ') head.remove_suffix(1);
  return std::string(head) + std::string(kEllipsis);
}

std::string shorten_front(std::string_view text, std::size_t columns) {
  auto left = columns_of(text);
  if (left <= columns) return std::string(text);
  if (columns == 0) return {};
  while (left > columns - 1) {
    const auto character = first_character(text);
    left -= columns_of(character.point);
    text.remove_prefix(character.length);
  }
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return std::string(kEllipsis) + std::string(text);
}

}  // namespace ridgeline::base
