// SPDX-License-Identifier: Apache-2.0
// One self-contained page. Text is escaped once, here; the page's policy forbids everything but its own inline parts.
#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "report/html/html_text.hpp"
#include "report/html/page_parts.hpp"
#include "report/html/table_html.hpp"
#include "report/inline_text.hpp"
#include "report/markup.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

/// A number large, its unit small: "17960 items/s" is wider than a tile.
std::string value_html(const std::string& value) {
  const auto space = value.find(' ');
  if (value.empty() || std::isdigit(static_cast<unsigned char>(value.front())) == 0 || space == std::string::npos ||
      value.find(' ', space + 1) != std::string::npos)
    return plain_html(value);
  return fmt::format("{} <small>{}</small>", plain_html(value.substr(0, space)), plain_html(value.substr(space + 1)));
}

/// A chart without any is not drawn.
bool has_points(const Chart& chart) {
  const auto series = chart.option.find("series");
  return series != chart.option.end() && std::any_of(series->begin(), series->end(), [](const auto& one) {
           const auto data = one.find("data");
           return data != one.end() && !data->empty();
         });
}

struct HtmlWriter {
  std::string out;
  base::Json charts = base::Json::object();
  bool has_timeline = false;
  bool has_icicle = false;

  void operator()(const Paragraph& block) { out += "<p>" + inline_html(block.text) + "</p>\n"; }

  void operator()(const Callout& block) {
    out += fmt::format("<div class=\"callout {}\" role=\"note\">\n<p class=\"name\">{}</p>\n", tone_name(block.tone),
                       plain_html(block.title));
    if (!block.text.empty()) out += "<p>" + inline_html(block.text) + "</p>\n";
    out += "</div>\n";
  }

  void operator()(const BulletList& block) {
    out += "<ul class=\"findings\">\n";
    for (const auto& item : block.items) out += "<li>" + inline_html(item) + "</li>\n";
    out += "</ul>\n";
  }

  void operator()(const CodeBlock& block) {
    out += fmt::format("<div class=\"code\"><pre tabindex=\"0\"><code>{}</code></pre></div>\n",
                       escape_markup(clean_utf8(block.text)));
  }

  void operator()(const Table& block) { out += table_html(block); }

  void operator()(const Chart& block) {
    if (!has_points(block)) return write_words(block.alternative);
    charts[block.id] = block.option;
    out += fmt::format(
        "<figure class=\"chart\">\n<figcaption>{}</figcaption>\n"
        "<div class=\"plot\" data-chart=\"{}\" role=\"img\" aria-label=\"{}\" style=\"height:{}px\"></div>\n"
        "<p class=\"alternative\">{}</p>\n</figure>\n",
        plain_html(block.title), plain_html(block.id), plain_html(block.title + ". " + strip_marks(block.alternative)),
        block.height_px, inline_html(block.alternative));
  }

  void operator()(const Timeline& block) {
    if (block.data.empty()) return write_words(block.alternative);
    has_timeline = true;
    write_drawing(block, "timeline", "application/octet-stream", escape_markup(block.data));
  }

  void operator()(const Icicle& block) {
    has_icicle = true;
    write_drawing(block, "icicle", "application/json", script_json(block.data));
  }

  void operator()(const Facts& block) {
    out += "<dl class=\"facts\">\n";
    for (const auto& [key, value] : block.rows)
      out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", plain_html(key), inline_html(value));
    out += "</dl>\n";
  }

  void operator()(const KeyFigures& block) {
    out += "<dl class=\"figures\">\n";
    for (const auto& figure : block.figures) {
      out += fmt::format("<div class=\"{}\"><dt>{}</dt><dd class=\"value\">{}</dd>", tone_name(figure.tone),
                         plain_html(figure.label), value_html(figure.value));
      if (!figure.note.empty()) out += "<dd class=\"note\">" + inline_html(figure.note) + "</dd>";
      out += "</div>\n";
    }
    out += "</dl>\n";
  }

  /// Of a drawing that is none, without its title.
  void write_words(const std::string& alternative) {
    if (!alternative.empty()) out += fmt::format("<p class=\"alternative\">{}</p>\n", inline_html(alternative));
  }

  /// What a script of the page's own draws into an empty element, from data of that type.
  template <typename Drawing>
  void write_drawing(const Drawing& block, std::string_view kind, std::string_view type, std::string_view data) {
    out += fmt::format(
        "<figure class=\"drawn\" id=\"{}\" data-{}>\n<figcaption>{}</figcaption>\n<div class=\"drawing\"></div>\n"
        "<script type=\"{}\">{}</script>\n",
        plain_html(block.id), kind, plain_html(block.title), type, data);
    write_words(block.alternative);
    out += "</figure>\n";
  }
};

/// A block for which the page needs scripts of its own.
bool has_drawing(const Section& section) {
  return std::any_of(section.blocks.begin(), section.blocks.end(), [](const Block& block) {
    const auto* timeline = std::get_if<Timeline>(&block);
    return (timeline != nullptr && !timeline->data.empty()) || std::holds_alternative<Icicle>(block);
  });
}

/// The page in its order: the answer, the key findings, and everything else in sections that open on a click.
class PageWriter {
 public:
  explicit PageWriter(const ReportModel& report) : report_(report) {
    for (const auto& section : report.sections) {
      const bool is_answer = report.answer.blocks.empty() && &section == &report.sections.front();
      (is_answer || section.id == "findings" ? open_ : folded_).push_back(&section);
    }
    if (report.answer.blocks.empty() || report.sections.empty() || find_figures(report.answer) != nullptr) return;
    figures_ = find_figures(report.sections.front());
  }

  void write_header() {
    // The kind of report above what was asked, or alone.
    writer.out += "<header>\n<div>\n";
    if (!report_.asked.empty()) writer.out += "<p class=\"kind\">" + plain_html(report_.title) + "</p>\n";
    writer.out += "<h1>" + plain_html(report_.asked.empty() ? report_.title : report_.asked) + "</h1>\n";
    if (!report_.subtitle.empty()) writer.out += "<p class=\"subtitle\">" + plain_html(report_.subtitle) + "</p>\n";
    writer.out += "</div>\n<button type=\"button\" class=\"theme\" hidden>Dark</button>\n</header>\n";
  }

  void write_contents() {
    writer.out += "<nav aria-label=\"Sections\"><ul>\n";
    const auto add = [&](std::string_view id, std::string_view title) {
      writer.out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_markup(id), plain_html(title));
    };
    if (!report_.answer.blocks.empty()) add(kAnswerId, "In short");
    for (const auto* list : {&open_, &folded_})
      for (const auto* section : *list) add(section->id, section->title);
    writer.out += "</ul></nav>\n";
  }

  void write_open_sections() {
    if (!report_.answer.blocks.empty()) {
      writer.out += fmt::format("<section id=\"{}\" class=\"answer\" aria-label=\"In short\">\n", kAnswerId);
      write_answer();
      writer.out += "</section>\n";
    }
    for (const auto* section : open_) {
      writer.out += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                                escape_markup(section->id), plain_html(section->title));
      write_blocks(*section);
      writer.out += "</section>\n";
    }
  }

  void write_folded_sections() {
    if (folded_.empty()) return;
    writer.out += "<div class=\"folds\"><button type=\"button\" class=\"unfold\" hidden>Expand all</button></div>\n";
    for (const auto* section : folded_) {
      writer.out += fmt::format(
          "<section id=\"{0}\" class=\"fold\" aria-labelledby=\"{0}-title\">\n<details>\n"
          "<summary><h2 id=\"{0}-title\">{1}</h2></summary>\n",
          escape_markup(section->id), plain_html(section->title));
      write_blocks(*section);
      writer.out += "</details>\n</section>\n";
    }
  }

  HtmlWriter writer;

 private:
  static constexpr std::string_view kAnswerId = "in-short";

  static const KeyFigures* find_figures(const Section& section) {
    for (const auto& block : section.blocks)
      if (const auto* figures = std::get_if<KeyFigures>(&block)) return figures;
    return nullptr;
  }

  /// The verdict, its figures, and what changes.
  void write_answer() {
    const auto& blocks = report_.answer.blocks;
    const auto callouts_end = std::find_if_not(
        blocks.begin(), blocks.end(), [](const auto& block) { return std::holds_alternative<Callout>(block); });
    std::for_each(blocks.begin(), callouts_end, [&](const auto& block) { std::visit(writer, block); });
    if (figures_ != nullptr) writer(*figures_);
    std::for_each(callouts_end, blocks.end(), [&](const auto& block) { std::visit(writer, block); });
  }

  void write_blocks(const Section& section) {
    for (const auto& block : section.blocks)
      if (figures_ == nullptr || std::get_if<KeyFigures>(&block) != figures_) std::visit(writer, block);
  }

  const ReportModel& report_;
  std::vector<const Section*> open_;
  std::vector<const Section*> folded_;
  const KeyFigures* figures_ = nullptr;  ///< of the first section, which the answer shows in its place
};

}  // namespace

std::string render_html(const ReportModel& report, std::string_view echarts_js) {
  const bool draws = std::any_of(report.sections.begin(), report.sections.end(), has_drawing);
  PageWriter page(report);
  auto& writer = page.writer;
  writer.out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#content\">To the content</a>\n<div class=\"layout\">\n",
      plain_html(report.asked.empty() ? report.title : report.asked), report_css(), draws ? canvas_css() : "");
  page.write_header();
  writer.out += "<div class=\"columns\">\n";
  page.write_contents();
  writer.out += "<main id=\"content\">\n";
  page.write_open_sections();
  page.write_folded_sections();
  writer.out += "</main>\n</div>\n<footer>" + plain_html(report.footer) + "</footer>\n</div>\n";
  writer.out += "<script type=\"application/json\" id=\"charts\">" + script_json(writer.charts) + "</script>\n";
  writer.out += "<script>" + script_text(echarts_js) + "</script>\n<script>\n" + script_text(report_js());
  if (draws) writer.out += script_text(canvas_js());
  if (writer.has_timeline)
    for (const auto part : {timeline_data_js(), timeline_drawing_js(), timeline_view_js(), timeline_js()})
      writer.out += script_text(part);
  if (writer.has_icicle) writer.out += script_text(icicle_js());
  writer.out += "</script>\n</body>\n</html>\n";
  return std::move(writer.out);
}

}  // namespace ridgeline::report
