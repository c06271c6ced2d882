// SPDX-License-Identifier: Apache-2.0
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

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

/// Characters that are invisible and can reorder or hide text (bidirectional controls, byte order mark).
bool is_hidden(char32_t point) noexcept {
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
    const auto character = base::first_character(text);
    const auto control = character.valid && (character.point < 0x20 || character.point == 0x7F);
    if (!character.valid)
      out += kReplacement;
    else if ((!control || character.point == '\n' || character.point == '\t') && !is_hidden(character.point))
      out += text.substr(0, character.length);
    text.remove_prefix(character.length);
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

}  // namespace ridgeline::report
