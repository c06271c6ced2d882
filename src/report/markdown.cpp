// SPDX-License-Identifier: Apache-2.0
// GitHub-flavoured Markdown. Everything that came from outside is escaped, so that it shows as it is.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "report/inline_text.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

bool is_word(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Plain text that no Markdown reader takes for markup, HTML, a link or a mention.
std::string escape_markdown(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = text[i];
    const auto before = i > 0 ? text[i - 1] : ' ';
    const auto after = i + 1 < text.size() ? text[i + 1] : ' ';
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '@': out += "&#64;"; break;
      case '\\':
      case '`':
      case '*':
      case '[':
      case ']':
      case '|':
      case '~':
      case '$': out += '\\', out += c; break;
      case '_': out += is_word(before) && is_word(after) ? "_" : "\\_"; break;
      case '#': out += i == 0 || is_word(after) ? "\\#" : "#"; break;
      case '!': out += after == '[' ? "\\!" : "!"; break;
      case ':': out += text.substr(i, 3) == "://" ? "&#58;" : ":"; break;
      default: out += c;
    }
  }
  const auto starts_block = !out.empty() && (out[0] == '-' || out[0] == '+' || out[0] == '=') &&
                            (out.size() == 1 || out[1] == ' ' || out[1] == out[0]);
  if (starts_block) out.insert(0, "\\");
  return out;
}

/// A code span; in a table a pipe ends the cell even inside code.
std::string code(std::string_view text, bool in_table) {
  std::string body;
  for (const auto c : one_line(text)) {
    if (c == '|' && in_table) body += '\\';
    body += c;
  }
  const auto fence = body.find('`') == std::string::npos ? "`" : "``";
  const auto pad = body.find('`') == std::string::npos ? "" : " ";
  return fmt::format("{0}{1}{2}{1}{0}", fence, pad, body);
}

std::string inline_markdown(std::string_view text, bool in_table = false) {
  std::string out;
  for (const auto& span : parse_inline(clean_utf8(text))) {
    switch (span.kind) {
      case Span::Kind::code: out += code(span.text, in_table); break;
      case Span::Kind::strong: out += "**" + escape_markdown(one_line(span.text)) + "**"; break;
      case Span::Kind::link: out += fmt::format("[{}](#{})", escape_markdown(one_line(span.text)), span.anchor); break;
      default: {
        auto line = span.text;
        std::replace(line.begin(), line.end(), '\n', ' ');
        out += escape_markdown(line);
      }
    }
  }
  return out;
}

std::string plain_markdown(std::string_view text) { return escape_markdown(one_line(text)); }

struct MarkdownWriter {
  std::string out;

  void operator()(const Paragraph& block) { out += inline_markdown(block.text) + "\n\n"; }

  void operator()(const Callout& block) {
    static constexpr std::array<std::string_view, 4> kKinds{"NOTE", "TIP", "WARNING", "CAUTION"};
    out +=
        fmt::format("> [!{}]\n> **{}**\n", kKinds[static_cast<std::size_t>(block.tone)], plain_markdown(block.title));
    if (!block.text.empty()) out += ">\n> " + inline_markdown(block.text) + "\n";
    out += "\n";
  }

  void operator()(const BulletList& block) {
    for (const auto& item : block.items) out += "- " + inline_markdown(item) + "\n";
    out += "\n";
  }

  void operator()(const CodeBlock& block) {
    std::size_t longest = 2;
    std::size_t run = 0;
    auto text = clean_utf8(block.text);
    for (const auto c : text) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string fence(longest + 1, '`');
    if (!text.empty() && text.back() != '\n') text += '\n';
    out += fence + block.language + "\n" + text + fence + "\n\n";
  }

  void operator()(const Table& block) {
    if (!block.caption.empty()) out += fmt::format("**{}**\n\n", plain_markdown(block.caption));
    out += "|";
    for (const auto& column : block.columns) out += fmt::format(" {} |", plain_markdown(column.title));
    out += "\n|";
    for (const auto& column : block.columns) out += column.align == Align::right ? "---:|" : "---|";
    out += "\n";
    for (const auto& row : block.rows) {
      out += "|";
      bool first = true;
      for (const auto& cell : row.cells) {
        const auto anchor = first && !row.anchor.empty() ? fmt::format("<a id=\"{}\"></a>", row.anchor) : std::string();
        out += fmt::format(" {}{} |", anchor, inline_markdown(cell, true));
        first = false;
      }
      out += "\n";
    }
    out += "\n";
  }

  void operator()(const Chart& block) { write_alternative(block); }
  void operator()(const Timeline& block) { write_alternative(block); }
  void operator()(const Icicle& block) { write_alternative(block); }

  void operator()(const Facts& block) {
    out += "| | |\n|---|---|\n";
    for (const auto& [key, value] : block.rows)
      out += fmt::format("| {} | {} |\n", plain_markdown(key), inline_markdown(value, true));
    out += "\n";
  }

  void operator()(const KeyFigures& block) {
    std::string rule = "|";
    std::string heads = "|";
    std::string values = "|";
    std::string notes = "|";
    for (const auto& figure : block.figures) {
      heads += fmt::format(" {} |", plain_markdown(figure.label));
      rule += "---|";
      values += fmt::format(" **{}** |", plain_markdown(figure.value));
      notes += fmt::format(" {} |", inline_markdown(figure.note, true));
    }
    out += heads + "\n" + rule + "\n" + values + "\n" + notes + "\n\n";
  }

  /// What stands for a drawing.
  template <typename Drawing>
  void write_alternative(const Drawing& block) {
    out += fmt::format("*{}*: {}\n\n", plain_markdown(block.title), inline_markdown(block.alternative));
  }
};

}  // namespace

std::string render_markdown(const ReportModel& report) {
  MarkdownWriter writer;
  writer.out = fmt::format("# {}\n\n", plain_markdown(report.title));
  if (!report.subtitle.empty()) writer.out += plain_markdown(report.subtitle) + "\n\n";
  for (const auto& section : report.sections) {
    writer.out += fmt::format("<a id=\"{}\"></a>\n\n## {}\n\n", section.id, plain_markdown(section.title));
    for (const auto& block : section.blocks) std::visit(writer, block);
  }
  if (!report.footer.empty()) writer.out += "---\n\n" + plain_markdown(report.footer) + "\n";
  return std::move(writer.out);
}

std::string render_markdown_answer(const ReportModel& report) {
  MarkdownWriter writer;
  writer.out = plain_markdown(report.asked) + "\n\n";
  for (const auto& block : report.answer.blocks) std::visit(writer, block);
  return std::move(writer.out);
}

std::string render_summary(const ReportModel& report) {
  std::string verdict;
  std::string figures;
  std::string changes;
  const auto add = [](std::string& line, const std::string& text) { line += (line.empty() ? "" : "; ") + text; };
  const auto read = [&](const Section& section) {
    for (const auto& block : section.blocks) {
      // A page's anchors lead nowhere elsewhere.
      if (const auto* callout = std::get_if<Callout>(&block); callout != nullptr && verdict.empty())
        verdict = fmt::format("**{}**{}{}", plain_markdown(callout->title), callout->text.empty() ? "" : ": ",
                              plain_markdown(strip_marks(callout->text)));
      if (const auto* facts = std::get_if<Facts>(&block); facts != nullptr && &section == &report.answer)
        for (const auto& [key, value] : facts->rows)
          add(changes, fmt::format("{}: {}", code(key, false), inline_markdown(value)));
      if (const auto* known = std::get_if<KeyFigures>(&block); known != nullptr && figures.empty())
        for (const auto& figure : known->figures)
          add(figures, fmt::format("{} **{}**{}", plain_markdown(figure.label), plain_markdown(figure.value),
                                   figure.note.empty() ? "" : " (" + plain_markdown(strip_marks(figure.note)) + ")"));
    }
  };
  read(report.answer);
  for (std::size_t at = 0; report.answer.blocks.empty() && at < std::min<std::size_t>(2, report.sections.size()); ++at)
    read(report.sections[at]);
  std::string out;
  for (const auto& line : {plain_markdown(report.asked.empty() ? report.title : report.asked), verdict,
                           figures + (figures.empty() || changes.empty() ? "" : "; ") + changes,
                           plain_markdown(report.subtitle), plain_markdown(report.footer)})
    if (!line.empty()) out += (out.empty() ? "" : "  \n") + line;
  return out + "\n";
}

}  // namespace ridgeline::report
