// SPDX-License-Identifier: Apache-2.0
#include "report/inline_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

bool is_anchor_character(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/// Reads "[text](#anchor)" at the start; returns its length or 0.
std::size_t read_link(std::string_view text, Span& span) {
  const auto middle = text.find("](#");
  if (middle == std::string_view::npos || middle < 2) return 0;
  const auto label = text.substr(1, middle - 1);
  if (label.find_first_of("[]\n") != std::string_view::npos) return 0;
  auto end = middle + 3;
  while (end < text.size() && is_anchor_character(text[end])) ++end;
  if (end == middle + 3 || end >= text.size() || text[end] != ')') return 0;
  span = {Span::Kind::link, std::string(label), std::string(text.substr(middle + 3, end - middle - 3))};
  return end + 1;
}

/// Reads `mark` content `mark` at the start; returns its length or 0.
std::size_t read_marked(std::string_view text, std::string_view mark, Span::Kind kind, Span& span) {
  const auto end = text.find(mark, mark.size());
  if (end == std::string_view::npos || end == mark.size()) return 0;
  span = {kind, std::string(text.substr(mark.size(), end - mark.size())), ""};
  return end + mark.size();
}

}  // namespace

std::vector<Span> parse_inline(std::string_view text) {
  std::vector<Span> spans;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) spans.push_back({Span::Kind::text, std::move(plain), ""});
    plain.clear();
  };
  while (!text.empty()) {
    Span span;
    std::size_t length = 0;
    if (text[0] == '`')
      length = read_marked(text, "`", Span::Kind::code, span);
    else if (text.substr(0, 2) == "**")
      length = read_marked(text, "**", Span::Kind::strong, span);
    else if (text[0] == '[')
      length = read_link(text, span);
    if (length == 0) {
      plain += text[0];
      text.remove_prefix(1);
      continue;
    }
    flush();
    spans.push_back(std::move(span));
    text.remove_prefix(length);
  }
  flush();
  return spans;
}

std::string strip_marks(std::string_view text) {
  std::string out;
  for (const auto& span : parse_inline(text)) out += span.text;
  return out;
}

std::string code_mark(std::string_view text) {
  auto line = one_line(text);
  if (line.empty()) return line;
  std::replace(line.begin(), line.end(), '`', '\'');
  return fmt::format("`{}`", line);
}

std::string value_mark(std::string_view text) { return code_mark(text.empty() ? "\"\"" : text); }

std::string plain_text(std::string_view text) {
  auto line = one_line(text);
  std::replace(line.begin(), line.end(), '`', '\'');
  for (std::size_t at = 0; (at = line.find("**", at)) != std::string::npos;) line.replace(at, 2, "* *");
  for (std::size_t at = 0; (at = line.find("](#", at)) != std::string::npos;) line.replace(at, 3, "] (#");
  return line;
}

std::string trial_link(int id) { return fmt::format("[{0}](#trial-{0})", id); }

std::string trial_links(const std::vector<int>& ids, std::size_t limit) {
  std::string out;
  const auto shown = std::min(ids.size(), limit);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == ids.size() ? " and " : ", ";
    out += trial_link(ids[i]);
  }
  if (shown < ids.size()) out += fmt::format(" and {} more", ids.size() - shown);
  return out;
}

}  // namespace ridgeline::report
