// SPDX-License-Identifier: Apache-2.0
#include "monitor/cell_grid.hpp"

#include <algorithm>

namespace ridgeline::monitor {
namespace {

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

CellGrid::CellGrid(int rows, int columns, bool unicode)
    : rows_(std::max(rows, 0)),
      columns_(std::max(columns, 0)),
      unicode_(unicode),
      cells_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)) {}

const Cell& CellGrid::at(int row, int column) const {
  return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
}

int CellGrid::put(int row, int column, std::string_view text, Style style, int room) {
  const int end = room < 0 ? columns_ : std::min(columns_, column + room);
  while (!text.empty()) {
    const auto character = base::first_character(text);
    text.remove_prefix(character.length);
    const int width = static_cast<int>(base::columns_of(character.point));
    if (width == 0) continue;
    if (column + width > end) break;
    put_glyph(row, column, character.point, style);
    if (width == 2 && unicode_) put_glyph(row, column + 1, 0, style);
    column += unicode_ ? width : 1;
  }
  return column;
}

void CellGrid::put_right(int row, int column, std::string_view text, Style style) {
  put(row, std::max(column - columns_of(text), 0), text, style);
}

void CellGrid::put_glyph(int row, int column, char32_t glyph, Style style) {
  if (!inside(row, column)) return;
  cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)] = {
      unicode_ ? glyph : ascii(glyph), style};
}

void CellGrid::fill(int row, int from, int to, Style style) {
  for (int column = from; column < to; ++column)
    if (inside(row, column)) put_glyph(row, column, at(row, column).glyph, style);
}

std::string CellGrid::row_text(int row) const {
  std::string text;
  for (int column = 0; column < columns_; ++column)
    if (const auto glyph = at(row, column).glyph; glyph != 0) text += base::utf8(glyph);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string CellGrid::text() const {
  std::string all;
  for (int row = 0; row < rows_; ++row) all += row_text(row) + "\n";
  all.erase(all.find_last_not_of('\n') + 1);
  return all;
}

}  // namespace ridgeline::monitor
