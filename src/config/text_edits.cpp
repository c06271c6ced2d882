// SPDX-License-Identifier: Apache-2.0
#include "config/text_edits.hpp"

#include <algorithm>

namespace ridgeline::config {
namespace {

/// Length of the line break at `offset`, 0 when there is none.
std::size_t break_length(std::string_view text, std::size_t offset) {
  const auto at = text.substr(offset);
  if (at.empty()) return 0;
  if (at.substr(0, 2) == "\r\n" || at.substr(0, 2) == "\xC2\x85") return 2;
  if (at.front() == '\n' || at.front() == '\r') return 1;
  return at.substr(0, 3) == "\xE2\x80\xA8" || at.substr(0, 3) == "\xE2\x80\xA9" ? 3 : 0;
}

}  // namespace

std::string apply_edits(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const auto& edit : edits) {
    out.append(text.substr(at, edit.begin - at));
    out += edit.text;
    at = edit.end;
  }
  out.append(text.substr(at));
  return out;
}

std::size_t line_end(std::string_view text, std::size_t offset) {
  while (offset < text.size() && break_length(text, offset) == 0) ++offset;
  return offset;
}

std::size_t line_begin(std::string_view text, std::size_t offset) {
  std::size_t begin = 0;
  for (std::size_t i = offset; i > 0; --i) {
    const auto length = break_length(text, i - 1);
    if (length > 0 && i - 1 + length <= offset) {
      begin = i - 1 + length;
      break;
    }
  }
  if (begin == 0 && text.substr(0, 3) == "\xEF\xBB\xBF") begin = std::min<std::size_t>(3, offset);
  return begin;
}

std::string_view newline_near(std::string_view text, std::size_t offset) {
  auto at = text.find_first_of("\r\n", offset);
  if (at == std::string_view::npos) at = text.find_last_of("\r\n", offset);
  if (at == std::string_view::npos) return "\n";
  if (text[at] == '\r') return at + 1 < text.size() && text[at + 1] == '\n' ? "\r\n" : "\r";
  return at > 0 && text[at - 1] == '\r' ? "\r\n" : "\n";
}

}  // namespace ridgeline::config
