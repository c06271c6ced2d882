// SPDX-License-Identifier: Apache-2.0
#include "monitor/canvas.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ridgeline::monitor {
namespace {

constexpr char32_t kBroken = 0xFFFD;

/// Takes the next character off `text`; broken bytes become U+FFFD one by one.
char32_t next_glyph(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xE ? 3 : lead >> 3 == 0x1E ? 4 : 0;
  if (length == 0 || length > text.size()) {
    text.remove_prefix(1);
    return kBroken;
  }
  char32_t glyph = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto more = static_cast<unsigned char>(text[i]);
    if (more >> 6 != 0x2) {
      text.remove_prefix(1);
      return kBroken;
    }
    glyph = glyph << 6 | (more & 0x3FU);
  }
  text.remove_prefix(length);
  return glyph;
}

/// Unicode's East Asian Width and general category, coarsely: the terminal must agree, or lines shift.
int width_of(char32_t glyph) {
  if (glyph < 0x20 || (glyph >= 0x7F && glyph < 0xA0)) return 0;
  if (glyph < 0x300) return 1;
  using Range = std::pair<char32_t, char32_t>;
  constexpr std::array<Range, 5> kNone{
      {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  constexpr std::array<Range, 9> kWide{{{0x1100, 0x115F},
                                        {0x2E80, 0xA4CF},
                                        {0xAC00, 0xD7A3},
                                        {0xF900, 0xFAFF},
                                        {0xFE30, 0xFE6F},
                                        {0xFF00, 0xFF60},
                                        {0xFFE0, 0xFFE6},
                                        {0x1F300, 0x1FAFF},
                                        {0x20000, 0x3FFFD}}};
  const auto in = [glyph](const Range& range) { return glyph >= range.first && glyph <= range.second; };
  if (std::any_of(kNone.begin(), kNone.end(), in)) return 0;
  return std::any_of(kWide.begin(), kWide.end(), in) ? 2 : 1;
}

/// Stand-ins where the terminal knows ASCII only; '?' for the rest.
char32_t ascii(char32_t glyph) {
  switch (glyph) {
    case U'·': return U'.';
    case U'–':
    case U'─': return U'-';
    case U'│': return U'|';
    case U'▲': return U'^';
    case U'▼': return U'v';
    case U'█': return U'#';
    case U'↑': return U'^';
    case U'↓': return U'v';
    case U'←': return U'<';
    case U'→': return U'>';
    case U'°': return U' ';
    default: return glyph < 0x80 ? glyph : U'?';
  }
}

}  // namespace

Canvas::Canvas(int rows, int columns, bool unicode)
    : rows_(std::max(rows, 0)),
      columns_(std::max(columns, 0)),
      unicode_(unicode),
      cells_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)) {}

const Cell& Canvas::at(int row, int column) const {
  return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
}

int Canvas::put(int row, int column, std::string_view text, Style style, int room) {
  const int end = room < 0 ? columns_ : std::min(columns_, column + room);
  while (!text.empty()) {
    const auto glyph = next_glyph(text);
    const int width = width_of(glyph);
    if (width == 0) continue;
    if (column + width > end) break;
    put_glyph(row, column, glyph, style);
    if (width == 2 && unicode_) put_glyph(row, column + 1, 0, style);
    column += unicode_ ? width : 1;
  }
  return column;
}

void Canvas::put_right(int row, int column, std::string_view text, Style style) {
  put(row, std::max(column - columns_of(text), 0), text, style);
}

void Canvas::put_glyph(int row, int column, char32_t glyph, Style style) {
  if (!inside(row, column)) return;
  cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)] = {
      unicode_ ? glyph : ascii(glyph), style};
}

void Canvas::fill(int row, int from, int to, Style style) {
  for (int column = from; column < to; ++column)
    if (inside(row, column)) put_glyph(row, column, at(row, column).glyph, style);
}

std::string Canvas::row_text(int row) const {
  std::string text;
  for (int column = 0; column < columns_; ++column)
    if (const auto glyph = at(row, column).glyph; glyph != 0) text += utf8(glyph);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string Canvas::text() const {
  std::string all;
  for (int row = 0; row < rows_; ++row) all += row_text(row) + "\n";
  all.erase(all.find_last_not_of('\n') + 1);
  return all;
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) columns += width_of(next_glyph(text));
  return columns;
}

std::string utf8(char32_t glyph) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (glyph < 0x80) return {byte(glyph)};
  if (glyph < 0x800) return {byte(0xC0 | glyph >> 6), byte(0x80 | (glyph & 0x3F))};
  if (glyph < 0x10000) return {byte(0xE0 | glyph >> 12), byte(0x80 | (glyph >> 6 & 0x3F)), byte(0x80 | (glyph & 0x3F))};
  return {byte(0xF0 | glyph >> 18), byte(0x80 | (glyph >> 12 & 0x3F)), byte(0x80 | (glyph >> 6 & 0x3F)),
          byte(0x80 | (glyph & 0x3F))};
}

}  // namespace ridgeline::monitor
