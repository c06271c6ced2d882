// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.hpp"

namespace ridgeline::monitor {

/// What a cell means; the terminal decides on colours, and does without any.
enum class Style : std::uint8_t {
  normal,
  bold,
  dim,
  title,   ///< bar across the screen
  header,  ///< of a table
  selected,
  key,
  good,
  warn,
  bad,
  accent,
  load_low,  ///< bars and plots of what is good when high
  load_mid,
  load_high,
  heat_low,  ///< bars and plots of what is worrying when high
  heat_mid,
  heat_high,
};

struct Cell {
  char32_t glyph = U' ';  ///< 0: the right half of a wide character
  Style style = Style::normal;
  bool operator==(const Cell&) const = default;
};

/// A grid of characters to draw on; what falls outside is cut off. Without `unicode` only ASCII is ever stored.
class CellGrid {
 public:
  CellGrid(int rows, int columns, bool unicode);

  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] bool unicode() const noexcept { return unicode_; }
  [[nodiscard]] const Cell& at(int row, int column) const;

  /// Writes UTF-8 text, at most `room` columns of it (-1: to the edge). Returns the column after it.
  int put(int row, int column, std::string_view text, Style style = Style::normal, int room = -1);
  /// The same, its end at `column` (not included).
  void put_right(int row, int column, std::string_view text, Style style = Style::normal);
  void put_glyph(int row, int column, char32_t glyph, Style style);
  /// Gives a whole line a style, and blanks where nothing is.
  void fill(int row, int from, int to, Style style);

  /// One row as UTF-8, blanks at the end left out.
  [[nodiscard]] std::string row_text(int row) const;
  /// All rows joined by newlines, empty ones at the end left out.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool inside(int row, int column) const noexcept {
    return row >= 0 && row < rows_ && column >= 0 && column < columns_;
  }
  int rows_;
  int columns_;
  bool unicode_;
  std::vector<Cell> cells_;
};

/// base::columns_of as the canvas counts.
[[nodiscard]] inline int columns_of(std::string_view text) { return static_cast<int>(base::columns_of(text)); }

}  // namespace ridgeline::monitor
