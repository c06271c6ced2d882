// SPDX-License-Identifier: Apache-2.0
// One self-contained page. Text is escaped once, here; the page's policy forbids everything but its own inline parts.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "report/html/page_parts.hpp"
#include "report/inline_text.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kTallRows = 25;     // longer tables scroll inside their box
constexpr std::size_t kFitColumns = 3;    // beyond these a narrow screen shows columns of text below the numbers
constexpr std::size_t kManyColumns = 12;  // from here on narrow ones, so that the last is seen without scrolling

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const auto c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

/// JSON for a script element: no "<" that could end it, no line separators that old scripts choke on.
std::string script_json(const base::Json& json) {
  const auto text = base::dump_json(json);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto three = std::string_view(text).substr(i, 3);
    if (text[i] == '<')
      out += "\\u003c";
    else if (text[i] == '>')
      out += "\\u003e";
    else if (text[i] == '&')
      out += "\\u0026";
    else if (three == "\xE2\x80\xA8")
      out += "\\u2028", i += 2;
    else if (three == "\xE2\x80\xA9")
      out += "\\u2029", i += 2;
    else
      out += text[i];
  }
  return out;
}

/// Script text that cannot end its element: "<\/script" means the same inside a string.
std::string script_text(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find("</", at)) != std::string::npos; at += 3) {
    auto word = out.substr(at + 2, 6);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word == "script") out.insert(at + 1, "\\");
  }
  for (std::size_t at = 0; (at = out.find("<!--", at)) != std::string::npos; at += 5) out.replace(at, 4, "\\x3c!--");
  return out;
}

std::string plain_html(std::string_view text) { return escape_html(one_line(text)); }

/// May go on in a new line behind an underscore: names are longer than a phone's columns.
std::string breakable(std::string_view code) {
  std::string out;
  for (const auto c : code) out += c == '_' ? "_<wbr>" : std::string(1, c);
  return out;
}

std::string inline_html(std::string_view text) {
  std::string out;
  for (const auto& span : parse_inline(clean_utf8(text))) {
    switch (span.kind) {
      case Span::Kind::code: out += "<code>" + breakable(escape_html(span.text)) + "</code>"; break;
      case Span::Kind::strong: out += "<strong>" + escape_html(span.text) + "</strong>"; break;
      case Span::Kind::link:
        out += fmt::format("<a href=\"#{}\">{}</a>", escape_html(span.anchor), escape_html(span.text));
        break;
      default: out += escape_html(span.text);
    }
  }
  return out;
}

std::string_view tone_name(Tone tone) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"neutral", "good", "warning", "bad"};
  return kNames[static_cast<std::size_t>(tone)];
}

/// A number large, its unit small: "17960 items/s" is wider than a tile.
std::string value_html(const std::string& value) {
  const auto space = value.find(' ');
  if (value.empty() || std::isdigit(static_cast<unsigned char>(value.front())) == 0 || space == std::string::npos ||
      value.find(' ', space + 1) != std::string::npos)
    return plain_html(value);
  return fmt::format("{} <small>{}</small>", plain_html(value.substr(0, space)), plain_html(value.substr(space + 1)));
}

/// Which columns a narrow screen shows below the others: text of some length, where it would push numbers out of sight.
std::vector<bool> text_columns(const Table& table) {
  constexpr std::size_t kShortText = 20;
  std::vector<bool> out(table.columns.size());
  if (table.columns.size() <= kFitColumns) return out;
  for (const auto& row : table.rows)
    for (std::size_t i = 1; i < std::min(row.cells.size(), out.size()); ++i)
      if (table.columns[i].align == Align::left && columns_of(strip_marks(clean_utf8(row.cells[i]))) > kShortText)
        out[i] = true;
  return out;
}

std::string table_attributes(const Table& table, const std::vector<bool>& below) {
  const auto moved = static_cast<std::size_t>(std::count(below.begin(), below.end(), true));
  const bool dense = table.columns.size() > kManyColumns;
  if (moved == 0) return dense ? " class=\"dense\"" : "";
  return fmt::format(" class=\"stacked{}\" style=\"--columns:{}\"", dense ? " dense" : "",
                     table.columns.size() - moved);
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
                       escape_html(clean_utf8(block.text)));
  }

  void operator()(const Table& block) {
    const auto below = text_columns(block);
    out += "<figure class=\"table\">\n";
    if (!block.caption.empty()) out += "<figcaption>" + plain_html(block.caption) + "</figcaption>\n";
    out +=
        fmt::format("<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table{}>\n<thead><tr>",
                    block.rows.size() > kTallRows ? " tall" : "",
                    plain_html(block.caption.empty() ? "Table" : block.caption), table_attributes(block, below));
    for (std::size_t i = 0; i < block.columns.size(); ++i)
      out += fmt::format("<th scope=\"col\"{}>{}</th>",
                         block.columns[i].align == Align::right ? " class=\"right\""
                         : below[i]                             ? " class=\"text\""
                                                                : "",
                         plain_html(block.columns[i].title));
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : block.rows) write_row(block, row, below);
    out += "</tbody>\n</table>\n</div>\n</figure>\n";
  }

  void operator()(const Chart& block) {
    charts[block.id] = block.option;
    out += fmt::format(
        "<figure class=\"chart\">\n<figcaption>{}</figcaption>\n"
        "<div class=\"plot\" data-chart=\"{}\" role=\"img\" aria-label=\"{}\" style=\"height:{}px\"></div>\n"
        "<p class=\"alternative\">{}</p>\n</figure>\n",
        plain_html(block.title), plain_html(block.id), plain_html(block.title + ". " + strip_marks(block.alternative)),
        block.height_px, inline_html(block.alternative));
  }

  void operator()(const Timeline& block) {
    has_timeline = has_timeline || !block.data.empty();
    write_drawing(block, "timeline", block.data.empty() ? "" : "application/octet-stream", escape_html(block.data));
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

  /// What a script of the page's own draws into an empty element, from data of that type; without a type nothing.
  template <typename Drawing>
  void write_drawing(const Drawing& block, std::string_view kind, std::string_view type, std::string_view data) {
    out += fmt::format("<figure class=\"drawn\" id=\"{0}\"{1}>\n<figcaption>{2}</figcaption>\n", plain_html(block.id),
                       type.empty() ? "" : fmt::format(" data-{}", kind), plain_html(block.title));
    if (!type.empty())
      out += fmt::format("<div class=\"drawing\"></div>\n<script type=\"{}\">{}</script>\n", type, data);
    out += fmt::format("<p class=\"alternative\">{}</p>\n</figure>\n", inline_html(block.alternative));
  }

  void write_row(const Table& table, const Table::Row& row, const std::vector<bool>& below) {
    constexpr std::size_t kWideText = 40;  // a cell of this much text is not squeezed to a word a line
    out += "<tr";
    if (row.tone != Tone::neutral) out += fmt::format(" class=\"{}\"", tone_name(row.tone));
    if (!row.anchor.empty()) out += fmt::format(" id=\"{}\"", escape_html(row.anchor));
    out += ">";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const auto right = i < table.columns.size() && table.columns[i].align == Align::right;
      const auto wide = !right && columns_of(strip_marks(clean_utf8(row.cells[i]))) > kWideText;
      const auto text = i < below.size() && below[i];
      const auto attributes = right          ? " class=\"right\""
                              : text && wide ? " class=\"text wide\""
                              : text         ? " class=\"text\""
                              : wide         ? " class=\"wide\""
                                             : "";
      out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes, inline_html(row.cells[i]))
                    : fmt::format("<td{}>{}</td>", attributes, inline_html(row.cells[i]));
    }
    out += "</tr>\n";
  }
};

/// A block for which the page needs scripts of its own.
bool has_drawing(const Section& section) {
  return std::any_of(section.blocks.begin(), section.blocks.end(), [](const Block& block) {
    const auto* timeline = std::get_if<Timeline>(&block);
    return (timeline != nullptr && !timeline->data.empty()) || std::holds_alternative<Icicle>(block);
  });
}

}  // namespace

std::string render_html(const ReportModel& report, std::string_view echarts_js) {
  HtmlWriter writer;
  const bool draws = std::any_of(report.sections.begin(), report.sections.end(), has_drawing);
  writer.out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#content\">To the content</a>\n<div class=\"layout\">\n<header>\n<div>\n<h1>{0}</h1>\n",
      plain_html(report.title), draws ? fmt::format("{}{}", report_css(), canvas_css()) : std::string(report_css()));
  if (!report.subtitle.empty()) writer.out += "<p class=\"subtitle\">" + plain_html(report.subtitle) + "</p>\n";
  writer.out +=
      "</div>\n<button type=\"button\" class=\"theme\" hidden>Dark</button>\n</header>\n<div class=\"columns\">\n"
      "<nav aria-label=\"Sections\"><ul>\n";
  for (const auto& section : report.sections)
    writer.out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(section.id), plain_html(section.title));
  writer.out += "</ul></nav>\n<main id=\"content\">\n";
  for (const auto& section : report.sections) {
    writer.out += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                              escape_html(section.id), plain_html(section.title));
    for (const auto& block : section.blocks) std::visit(writer, block);
    writer.out += "</section>\n";
  }
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
