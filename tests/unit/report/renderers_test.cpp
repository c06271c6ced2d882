// SPDX-License-Identifier: Apache-2.0
#include "report/renderers.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/inline_text.hpp"
#include "report/svg/svg_text.hpp"
#include "report/utf8.hpp"
#include "unit/report/golden.hpp"

namespace ridgeline::report {
namespace {

constexpr auto kHostile = "</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) | `a` **b** \x1b[31m \xff";

/// One of every block, filled with text that wants to be markup.
ReportModel hostile_report() {
  const auto text = plain_text(kHostile);
  Chart chart{
      "c", kHostile, text, {{"series", {{{"name", kHostile}, {"data", {1}}}}}, {"note", "a\xE2\x80\xA8z"}}, 200};
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

TEST(RenderHtml, gives_a_phone_the_form_of_a_table_that_its_width_allows) {
  const auto page = [](const Table& table) { return render_html({"t", "", {{"s", "S", {table}}}, ""}, ""); };
  const Table narrow{"", {{"Trial"}, {"p50"}, {"p99"}}, {{{"1", "2.1", "3.2"}, Tone::neutral, ""}}};
  EXPECT_EQ(occurrences(page(narrow), "<table>"), 1U);
  EXPECT_EQ(occurrences(page(narrow), "data-label=\""), 0U);
  const auto cards = page(sample_table());
  EXPECT_EQ(occurrences(cards, "<table class=\"cards\">"), 1U);
  EXPECT_EQ(occurrences(cards, "<td class=\"right\" data-label=\"Median, ms\"><div>21.53</div></td>"), 1U);
  auto wide = sample_table();
  for (int i = 0; i < 6; ++i) {
    wide.columns.push_back({"p99, ms", Align::right});
    for (auto& row : wide.rows) row.cells.emplace_back("14.20");
  }
  EXPECT_EQ(occurrences(page(wide), "<table class=\"stacked\" style=\"--columns:8\">"), 1U);
  EXPECT_EQ(occurrences(page(wide), "<th scope=\"col\" class=\"text\">Settings</th>"), 1U);
  EXPECT_EQ(occurrences(page(wide), "<td class=\"text wide\">"), 1U);
}

/// A page with an answer, findings that come late, and two more sections.
ReportModel answered_report() {
  return {"Title",
          "",
          {{"verdict", "Verdict", {KeyFigures{{{"Now", "2 ms", "", Tone::neutral}}}, Paragraph{"details"}}},
           {"ranking", "Ranking", {Paragraph{"the ranking"}}},
           {"findings", "Key findings", {BulletList{{"a finding"}}}}},
          "",
          "what was asked",
          {"answer", "", {Callout{Tone::good, "Change it", "faster"}, Facts{{{"threads", "1 → 2"}}}}}};
}

TEST(RenderHtml, shows_the_answer_and_the_findings_and_folds_the_rest) {
  const auto page = render_html(answered_report(), "");
  EXPECT_NE(page.find("<title>what was asked</title>"), std::string::npos);
  EXPECT_NE(page.find("<h1>what was asked</h1>"), std::string::npos);
  std::size_t at = 0;
  for (const auto* text :
       {"<main", "Change it", ">Now</dt>", "1 → 2", "a finding", "Expand all", "details", "the ranking"}) {
    const auto next = page.find(text, at);
    ASSERT_NE(next, std::string::npos) << text << " is missing or too early";
    at = next;
  }
  EXPECT_EQ(occurrences(page, ">Now</dt>"), 1U) << "figures are shown once";
  EXPECT_EQ(occurrences(page, "<details>"), 2U);
  EXPECT_GT(page.find("<details>"), page.find("a finding"));
}

TEST(RenderHtml, opens_the_first_section_of_a_report_without_an_answer) {
  auto report = answered_report();
  report.answer.blocks.clear();
  const auto page = render_html(report, "");
  EXPECT_EQ(occurrences(page, "<details>"), 1U);
  EXPECT_LT(page.find("details</p>"), page.find("a finding"));
  EXPECT_LT(page.find("a finding"), page.find("the ranking"));
}

TEST(RenderHtml, has_no_caption_without_its_drawing) {
  const Chart empty{"c", "Caption", "Nothing to draw.", {{"series", {{{"data", base::Json::array()}}}}}, 200};
  for (const auto& block : {Block(empty), Block(Timeline{"t", "Caption", "Nothing to draw.", ""})}) {
    const auto page = render_html({"t", "", {{"s", "S", {block}}}, ""}, "");
    EXPECT_EQ(page.find("Caption"), std::string::npos);
    EXPECT_NE(page.find("Nothing to draw."), std::string::npos);
  }
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

TEST(RenderSvg, lets_no_foreign_text_become_markup) {
  auto report = hostile_report();
  report.asked = kHostile;
  report.answer = {"answer", "", report.sections.front().blocks};
  report.bars = {kHostile, {{kHostile, kHostile, 2, 1, 3, Tone::good}}};
  const auto picture = render_svg(report);
  for (const auto* word : {"<img", "<script", "href=", "url(", "@import"})
    EXPECT_EQ(picture.find(word), std::string::npos) << word;
  EXPECT_EQ(picture.find('\x1b'), std::string::npos);
  EXPECT_EQ(occurrences(picture, "<text"), occurrences(picture, "</text>"));
}

TEST(RenderSvg, keeps_every_line_within_the_picture) {
  for (const auto& text : {std::string(400, 'W'), "**" + std::string(90, 'm') + "** `" + std::string(200, '_') + "`",
                           std::string("many words of a sentence that goes on and on for a while, and then some, ") +
                               "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語"}) {
    const auto lines = wrap_inline(text, 18, 300);
    EXPECT_GT(lines.size(), 2U);
    std::string joined;
    for (const auto& line : lines) {
      double width = 0;
      for (const auto& piece : line) {
        width += text_width(piece.text, 18, piece.letters);
        joined += piece.text;
      }
      EXPECT_LE(width, 300) << text;
    }
    auto whole = strip_marks(text);
    for (auto* one : {&joined, &whole}) std::erase(*one, ' ');
    EXPECT_EQ(joined, whole);
  }
}

TEST(RenderSvg, is_a_card_of_text_without_bars) {
  ReportModel report;
  report.asked = "train.py:bench on cuda:0, batch 64 to 256 and 0 to 4 workers: 14 trials in 32.0 s";
  report.subtitle = "NVIDIA L4 · 2026-11-27 · run 20261127-162754-b561";
  report.footer = "Made by Ridgeline 0.2.0 from the records of run 20261127-162754-b561.";
  report.answer.blocks = {
      Callout{Tone::warning, "2 loader workers are too few", "With 4 workers: **9431 samples/s** against 6220."},
      KeyFigures{{{"Recommended", "6223 samples/s", "batch 64, 2 workers, no AMP, not pinned", Tone::good}}},
      Facts{{{"Highest throughput",
              "batch 128, 2 workers, no AMP, pinned: 6230 samples/s (6216–6245), 3.56 GB; the highest of 3 measured"},
             {"num_workers", "`2` → `4`"}}},
      BulletList{{"A note that is long enough for a second line, since it goes on and on about what was not measured, "
                  "why, and what to do about it."}},
      sample_table()};
  expect_golden("card.svg", render_svg(report));
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
