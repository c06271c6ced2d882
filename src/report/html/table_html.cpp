// SPDX-License-Identifier: Apache-2.0
#include "report/html/table_html.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/html/html_text.hpp"
#include "report/inline_text.hpp"
#include "report/markup.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kTallRows = 25;     // longer tables scroll inside their box
constexpr std::size_t kMostOfCards = 8;   // a row with more columns is not a list that anybody reads
constexpr std::size_t kManyColumns = 12;  // from here on narrow ones: the last is in view without scrolling

std::size_t width_of(std::string_view cell) { return columns_of(strip_marks(clean_utf8(cell))); }

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const auto end = text.find(' ');
    longest = std::max(longest, columns_of(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return longest;
}

/// Whether a phone has the width for all columns.
bool fits_narrow(const Table& table) {
  constexpr std::size_t kNarrowWidth = 44;  // letters in 360 pixels
  constexpr std::size_t kGap = 2;
  if (table.columns.size() < 3) return true;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    auto widest = longest_word(one_line(table.columns[i].title));
    for (const auto& row : table.rows)
      if (i < row.cells.size()) widest = std::max(widest, width_of(row.cells[i]));
    sum += widest + kGap;
  }
  return sum <= kNarrowWidth;
}

/// Columns of text of some length, which would push numbers out of sight.
std::vector<bool> text_columns(const Table& table) {
  constexpr std::size_t kShortText = 20;
  std::vector<bool> out(table.columns.size());
  for (const auto& row : table.rows)
    for (std::size_t i = 1; i < std::min(row.cells.size(), out.size()); ++i)
      if (table.columns[i].align == Align::left && width_of(row.cells[i]) > kShortText) out[i] = true;
  return out;
}

/// One table in the making.
struct TableWriter {
  explicit TableWriter(const Table& of) : table(of), below(of.columns.size()) {
    if (fits_narrow(table)) return;
    is_cards = table.columns.size() <= kMostOfCards;
    if (!is_cards) below = text_columns(table);
  }

  [[nodiscard]] std::string attributes() const {
    if (is_cards) return " class=\"cards\"";
    const auto moved = static_cast<std::size_t>(std::count(below.begin(), below.end(), true));
    const bool is_dense = table.columns.size() > kManyColumns;
    if (moved == 0) return is_dense ? " class=\"dense\"" : "";
    return fmt::format(" class=\"stacked{}\" style=\"--columns:{}\"", is_dense ? " dense" : "",
                       table.columns.size() - moved);
  }

  void write_head() {
    out += "<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      out += fmt::format("<th scope=\"col\"{}>{}</th>",
                         table.columns[i].align == Align::right ? " class=\"right\""
                         : below[i]                             ? " class=\"text\""
                                                                : "",
                         plain_html(table.columns[i].title));
    out += "</tr></thead>\n";
  }

  [[nodiscard]] std::string cell_attributes(const std::string& cell, std::size_t at) const {
    constexpr std::size_t kWideText = 40;  // a cell of this much text is not squeezed to a word a line
    const bool is_right = at < table.columns.size() && table.columns[at].align == Align::right;
    const bool is_wide = !is_right && width_of(cell) > kWideText;
    const bool is_text = at < below.size() && below[at];
    std::string attributes = is_right             ? " class=\"right\""
                             : is_text && is_wide ? " class=\"text wide\""
                             : is_text            ? " class=\"text\""
                             : is_wide            ? " class=\"wide\""
                                                  : "";
    if (is_cards && at < table.columns.size())
      attributes += fmt::format(" data-label=\"{}\"", plain_html(table.columns[at].title));
    return attributes;
  }

  void write_row(const Table::Row& row) {
    out += "<tr";
    if (row.tone != Tone::neutral) out += fmt::format(" class=\"{}\"", tone_name(row.tone));
    if (!row.anchor.empty()) out += fmt::format(" id=\"{}\"", escape_markup(row.anchor));
    out += ">";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      // A list of label and value has one element for each.
      const auto content = is_cards ? "<div>" + inline_html(row.cells[i]) + "</div>" : inline_html(row.cells[i]);
      out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", cell_attributes(row.cells[i], i), content)
                    : fmt::format("<td{}>{}</td>", cell_attributes(row.cells[i], i), content);
    }
    out += "</tr>\n";
  }

  const Table& table;
  std::vector<bool> below;  ///< columns that a narrow screen shows below the others
  bool is_cards = false;
  std::string out;
};

}  // namespace

std::string table_html(const Table& table) {
  TableWriter writer(table);
  writer.out += "<figure class=\"table\">\n";
  if (!table.caption.empty()) writer.out += "<figcaption>" + plain_html(table.caption) + "</figcaption>\n";
  writer.out += fmt::format("<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table{}>\n",
                            table.rows.size() > kTallRows ? " tall" : "",
                            plain_html(table.caption.empty() ? "Table" : table.caption), writer.attributes());
  writer.write_head();
  writer.out += "<tbody>\n";
  for (const auto& row : table.rows) writer.write_row(row);
  writer.out += "</tbody>\n</table>\n</div>\n</figure>\n";
  return std::move(writer.out);
}

}  // namespace ridgeline::report
