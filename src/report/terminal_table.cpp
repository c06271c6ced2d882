// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "report/inline_text.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kGap = 3;        // " │ "
constexpr std::size_t kNarrowest = 6;  // a column is not cut below this while another can give

std::string_view colour_of(Tone tone) noexcept {
  switch (tone) {
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
    default: return "";
  }
}

/// Takes the excess from the widest column that may give, one column at a time: left-aligned ones first, since a cut
/// number is worse than a cut text; then any.
void fit(std::vector<std::size_t>& widths, const Table& table, std::size_t available) {
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), std::size_t{0}); };
  for (const auto& [only_left, least] :
       {std::pair{true, kNarrowest}, std::pair{false, kNarrowest}, std::pair{false, std::size_t{1}}}) {
    while (total() > available) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] <= least || (only_left && table.columns[i].align == Align::right)) continue;
        if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
      }
      if (widest == widths.size()) break;
      --widths[widest];
    }
  }
}

std::string padded(const std::string& text, std::size_t width, const Table::Column& column) {
  const auto shown = column.keeps_end ? shorten_front(text, width) : shorten(text, width);
  const auto columns = columns_of(shown);
  const std::string blanks(width > columns ? width - columns : 0, ' ');
  return column.align == Align::right ? blanks + shown : shown + blanks;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, const Table& table) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += " │ ";
    line += padded(i < cells.size() ? cells[i] : std::string(), widths[i], table.columns[i]);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Natural width of each column.
std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(columns_of(one_line(column.title)));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.cells.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(one_line(strip_marks(clean_utf8(row.cells[i])))));
  return widths;
}

/// Without the last optional columns, as many as it takes to show the others whole.
Table without_optional(Table table, std::size_t room) {
  auto widths = natural_widths(table);
  const auto needed = [&] { return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1)); };
  for (std::size_t i = table.columns.size(); i-- > 0 && needed() > room;) {
    if (!table.columns[i].optional) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    widths.erase(widths.begin() + at);
    for (auto& row : table.rows)
      if (i < row.cells.size()) row.cells.erase(row.cells.begin() + at);
  }
  return table;
}

}  // namespace

std::string render_table(const Table& whole, int width, bool colour) {
  if (whole.columns.empty()) return {};
  const auto room = static_cast<std::size_t>(std::max(width, 1));
  const auto table = without_optional(whole, room);
  std::vector<std::string> heads;
  for (const auto& column : table.columns) heads.push_back(one_line(column.title));
  auto widths = natural_widths(table);
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back();
    for (std::size_t i = 0; i < row.cells.size() && i < widths.size(); ++i)
      cells.push_back(one_line(strip_marks(clean_utf8(row.cells[i]))));
  }
  const auto gaps = kGap * (widths.size() - 1);
  fit(widths, table, room > gaps ? room - gaps : widths.size());

  const auto styled = [&](std::string_view code, const std::string& text) {
    const auto cut = shorten(text, room);
    return colour && !code.empty() ? fmt::format("{}{}\x1b[0m\n", code, cut) : cut + "\n";
  };
  std::string out;
  if (!table.caption.empty()) out += styled("\x1b[1m", one_line(table.caption));
  out += styled("\x1b[1m", line_of(heads, widths, table));
  std::string rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule += "─┼─";
    for (std::size_t k = 0; k < widths[i]; ++k) rule += "─";
  }
  out += styled("\x1b[2m", rule);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out += styled(colour_of(table.rows[i].tone), line_of(rows[i], widths, table));
  return out;
}

}  // namespace ridgeline::report
