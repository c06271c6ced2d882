// SPDX-License-Identifier: Apache-2.0
#include "report/renderers.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/inline_text.hpp"
#include "report/utf8.hpp"
#include "unit/report/golden.hpp"

namespace ridgeline::report {
namespace {

constexpr auto kHostile = "</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) | `a` **b** \x1b[31m \xff";

/// One of every block, filled with text that wants to be markup.
ReportModel hostile_report() {
  const auto text = plain_text(kHostile);
  Chart chart{"c", kHostile, text, {{"series", {{{"name", kHostile}}}}, {"note", "a\xE2\x80\xA8z"}}, 200};
  Table table{kHostile, {{kHostile}, {"n", Align::right}}, {{{code_mark(kHostile), text}, Tone::bad, "trial-1"}}};
  return {kHostile,
          kHostile,
          {{"s",
            kHostile,
            {Paragraph{text}, Callout{Tone::bad, kHostile, text}, BulletList{{text}}, CodeBlock{"text", kHostile},
             table, chart, Facts{{{kHostile, text}}}, KeyFigures{{{kHostile, kHostile, text, Tone::good}}}}}},
          kHostile};
}

Table sample_table() {
  return {"Ranking",
          {{"Trial", Align::right}, {"Settings"}, {"Median, ms", Align::right}},
          {{{"[10](#trial-10)", "`intra_op_num_threads=4` `graph_optimization_level=all`", "13.41"}, Tone::good, ""},
           {{"1", "current configuration", "21.53"}, Tone::neutral, ""},
           {{"14", "`name=日本語`", "–"}, Tone::bad, ""}}};
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    longest = std::max(longest, columns_of(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return longest;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
  return count;
}

TEST(RenderHtml, marks_columns_of_text_that_go_below_the_numbers_on_a_narrow_screen) {
  auto table = sample_table();
  const auto page = [&] { return render_html({"t", "", {{"s", "S", {table}}}, ""}, ""); };
  EXPECT_EQ(occurrences(page(), "<table class=\"stacked\""), 0U) << "three columns fit";
  table.columns.push_back({"p99, ms", Align::right});
  for (auto& row : table.rows) row.cells.emplace_back("14.20");
  EXPECT_EQ(occurrences(page(), "<table class=\"stacked\" style=\"--columns:3\">"), 1U);
  EXPECT_EQ(occurrences(page(), "<th scope=\"col\" class=\"text\">Settings</th>"), 1U);
  EXPECT_EQ(occurrences(page(), "<td class=\"text\">current configuration</td>"), 1U);
  EXPECT_EQ(occurrences(page(), "<td class=\"text wide\">"), 1U);
}

TEST(RenderHtml, lets_no_foreign_text_become_markup) {
  const auto page = render_html(hostile_report(), "var echarts_stand_in = '</script>';");
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(occurrences(page, "</script>"), 3U) << "only the three elements of the page may end";
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find("\xE2\x80\xA8"), std::string::npos) << "a line separator in the JSON";
  EXPECT_EQ(page.find("href=\"javascript"), std::string::npos);
}

TEST(RenderHtml, refers_to_nothing_outside_the_page) {
  const auto page = render_html(hostile_report(), "");
  for (const auto* word : {" src=\"", "href=\"http", "url(", "@import", "<link"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(RenderMarkdown, lets_no_foreign_text_become_markup) {
  expect_golden("hostile.md", render_markdown(hostile_report()));
}

TEST(RenderTable, renders_the_sample_plain) { expect_golden("table_80.txt", render_table(sample_table(), 80, false)); }

TEST(RenderTable, never_exceeds_the_width) {
  for (int width = 1; width < 100; ++width)
    EXPECT_LE(longest_line(render_table(sample_table(), width, false)), static_cast<std::size_t>(width)) << width;
}

TEST(RenderTable, colours_rows_by_tone_only_when_asked) {
  const auto plain_table = render_table(sample_table(), 80, false);
  const auto colourful = render_table(sample_table(), 80, true);
  EXPECT_EQ(plain_table.find('\x1b'), std::string::npos);
  EXPECT_EQ(occurrences(colourful, "\x1b[32m"), 1U);
  EXPECT_EQ(occurrences(colourful, "\x1b[31m"), 1U);
}

TEST(RenderTable, keeps_numbers_when_texts_can_give_way) {
  const auto text = render_table(sample_table(), 40, false);
  EXPECT_NE(text.find("13.41"), std::string::npos) << text;
  EXPECT_NE(text.find("…"), std::string::npos) << text;
}

TEST(InlineText, splits_code_strong_and_links) {
  const auto spans = parse_inline("a `b` **c** [7](#trial-7) [x](http://y) *");
  ASSERT_EQ(spans.size(), 7U);
  EXPECT_EQ(spans[1].kind, Span::Kind::code);
  EXPECT_EQ(spans[3].kind, Span::Kind::strong);
  EXPECT_EQ(spans[5].anchor, "trial-7");
  EXPECT_EQ(spans[6].text, " [x](http://y) *");
}

TEST(InlineText, makes_foreign_marks_harmless) {
  const auto spans = parse_inline(plain_text("`a` **b** [c](#d)"));
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].kind, Span::Kind::text);
  EXPECT_EQ(parse_inline(code_mark("x`y")).size(), 1U);
}

TEST(Utf8, replaces_broken_bytes_and_drops_escapes) {
  EXPECT_EQ(clean_utf8("a\xff\x1b[31mb\x1b]0;title\a\xC0\xAF"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_utf8("x\xE2\x80\xAEy"), "xy") << "a bidirectional override";
  EXPECT_EQ(one_line("  a\r\n\t b "), "a b");
}

TEST(Utf8, counts_and_cuts_by_terminal_columns) {
  EXPECT_EQ(shorten("日本語", 5), "日本…");
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten_front("abcdef", 4), "…def");
}

TEST(Renderers, a_summary_has_five_lines_and_nothing_that_a_reader_takes_for_markup) {
  auto report = hostile_report();
  const auto without_answer = render_summary(report);
  report.asked = kHostile;
  report.answer = {"answer", "", {Callout{Tone::good, kHostile, kHostile}, Facts{{{"key", "1 → 2"}}}}};
  for (const auto& text : {without_answer, render_summary(report)}) {
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
    EXPECT_EQ(text.find("<img"), std::string::npos) << text;
    EXPECT_EQ(text.find("[x](javascript"), std::string::npos) << text;
  }
  EXPECT_NE(render_summary(report).find("`key`: 1 → 2"), std::string::npos) << render_summary(report);
}

}  // namespace
}  // namespace ridgeline::report
