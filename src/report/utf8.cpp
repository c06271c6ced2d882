// SPDX-License-Identifier: Apache-2.0
#include "report/utf8.hpp"

#include <cstdint>

namespace ridgeline::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct Decoded {
  std::uint32_t point = 0;
  std::size_t length = 1;
  bool valid = false;
};

/// One code point at the start of `text` (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
Decoded decode(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = 0;
  std::uint32_t point = 0;
  std::uint32_t smallest = 0;
  if ((lead & 0xE0U) == 0xC0) {
    length = 2, point = lead & 0x1FU, smallest = 0x80;
  } else if ((lead & 0xF0U) == 0xE0) {
    length = 3, point = lead & 0x0FU, smallest = 0x800;
  } else if ((lead & 0xF8U) == 0xF0) {
    length = 4, point = lead & 0x07U, smallest = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  if (point < smallest || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {point, length, true};
}

/// Length of the terminal escape sequence at the start of `text` (CSI, OSC or a two-byte escape).
std::size_t escape_length(std::string_view text) noexcept {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {
    std::size_t i = 2;
    while (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x20 && static_cast<unsigned char>(text[i]) < 0x40)
      ++i;
    return i < text.size() && static_cast<unsigned char>(text[i]) < 0x7F ? i + 1 : i;
  }
  if (text[1] == ']') {
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1b') return i + 1 < text.size() && text[i + 1] == '\\' ? i + 2 : i;
    }
    return text.size();
  }
  return 1;
}

bool is_combining(std::uint32_t point) noexcept {
  return (point >= 0x300 && point <= 0x36F) || (point >= 0x1AB0 && point <= 0x1AFF) ||
         (point >= 0x20D0 && point <= 0x20FF) || (point >= 0xFE00 && point <= 0xFE0F) || point == 0x200B ||
         point == 0x200D;
}

/// Scripts and symbols that terminals draw two columns wide (the main blocks of Unicode's East Asian Width W and F).
bool is_wide(std::uint32_t point) noexcept {
  return (point >= 0x1100 && point <= 0x115F) || (point >= 0x2E80 && point <= 0x303E) ||
         (point >= 0x3041 && point <= 0xA4CF) || (point >= 0xAC00 && point <= 0xD7A3) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0xFE30 && point <= 0xFE6F) ||
         (point >= 0xFF00 && point <= 0xFF60) || (point >= 0xFFE0 && point <= 0xFFE6) ||
         (point >= 0x1F300 && point <= 0x1F64F) || (point >= 0x1F900 && point <= 0x1F9FF) ||
         (point >= 0x20000 && point <= 0x3FFFD);
}

std::size_t width_of(std::uint32_t point) noexcept {
  if (is_combining(point)) return 0;
  return is_wide(point) ? 2 : 1;
}

/// Characters that are invisible and can reorder or hide text (bidirectional controls, byte order mark).
bool is_hidden(std::uint32_t point) noexcept {
  return (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF ||
         (point >= 0x80 && point <= 0x9F);
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text[0] == '\x1b') {
      text.remove_prefix(escape_length(text));
      continue;
    }
    const auto decoded = decode(text);
    const auto control = decoded.valid && (decoded.point < 0x20 || decoded.point == 0x7F);
    if (!decoded.valid)
      out += kReplacement;
    else if ((!control || decoded.point == '\n' || decoded.point == '\t') && !is_hidden(decoded.point))
      out += text.substr(0, decoded.length);
    text.remove_prefix(decoded.length);
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const auto c : clean_utf8(text)) {
    if (c != ' ' && c != '\n' && c != '\t')
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto decoded = decode(text);
    columns += width_of(decoded.point);
    text.remove_prefix(decoded.length);
  }
  return columns;
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t kept = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto decoded = decode(text.substr(at));
    const auto width = width_of(decoded.point);
    if (kept + width > columns - 1) break;
    kept += width;
    at += decoded.length;
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
    const auto decoded = decode(text);
    left -= width_of(decoded.point);
    text.remove_prefix(decoded.length);
  }
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return std::string(kEllipsis) + std::string(text);
}

}  // namespace ridgeline::report
