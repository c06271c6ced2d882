// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/section_text.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/renderers.hpp"
#include "report/utf8.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

Style style_of(report::Tone tone) {
  switch (tone) {
    case report::Tone::good: return Style::good;
    case report::Tone::warning: return Style::warning;
    case report::Tone::bad: return Style::bad;
    case report::Tone::neutral: break;
  }
  return Style::accent;
}

/// Writes one kind of block each; `out` ends with a newline after every block.
struct BlockWriter {
  const Terminal& terminal;
  std::string& out;

  void text(std::string_view marked, int indent, std::string_view lead = "") const {
    out += fmt::format("{}{}\n", lead, wrapped(report::strip_marks(marked), terminal.width - indent, indent));
  }
  void operator()(const report::Paragraph& paragraph) const { text(paragraph.text, 0); }
  void operator()(const report::Callout& callout) const {
    const auto bar = styled("▌ ", style_of(callout.tone), terminal.colour);
    const auto lines = [&](const std::string& marked) {
      return base::split(wrapped(report::strip_marks(marked), terminal.width - 2, 0), '\n');
    };
    for (const auto& line : lines(callout.title))
      if (!line.empty()) out += bar + styled(line, Style::bold, terminal.colour) + "\n";
    for (const auto& line : lines(callout.text))
      if (!line.empty()) out += bar + line + "\n";
  }
  void operator()(const report::BulletList& list) const {
    for (const auto& item : list.items) text(item, 2, "• ");
  }
  /// A terminal would break it within a word.
  [[nodiscard]] std::string code_line(const std::string& line) const {
    const auto text = line.find_first_not_of(' ');
    if (static_cast<int>(report::columns_of(line)) <= terminal.width - 4 || text == std::string::npos) return line;
    const auto indent = static_cast<int>(text);
    return line.substr(0, text) + wrapped(line.substr(text), terminal.width - 6 - indent, 6 + indent);
  }
  void operator()(const report::CodeBlock& code) const {
    bool gap = false;  // one empty line stands for several, at the end for none
    for (const auto& line : base::split(code.text, '\n')) {
      if (!line.empty()) out += (gap ? "\n    " : "    ") + code_line(line) + "\n";
      gap = line.empty();
    }
  }
  void operator()(const report::Table& table) const {
    out += report::render_table(table, terminal.width, terminal.colour);
    if (!out.empty() && out.back() != '\n') out += '\n';
  }
  void operator()(const report::Chart& chart) const { alternative(chart.alternative); }
  void operator()(const report::Timeline& timeline) const { alternative(timeline.alternative); }
  void operator()(const report::Icicle& icicle) const { alternative(icicle.alternative); }
  void operator()(const report::Facts& facts) const {
    std::size_t widest = 0;
    for (const auto& [name, value] : facts.rows) widest = std::max(widest, report::columns_of(name));
    for (const auto& [name, value] : facts.rows) {
      const std::string padded = name + std::string(widest - report::columns_of(name), ' ');
      text(value, static_cast<int>(widest) + 2, styled(padded, Style::dim, terminal.colour) + "  ");
    }
  }
  void operator()(const report::KeyFigures& figures) const {
    for (const auto& figure : figures.figures) {
      std::string line =
          fmt::format("{}  {}", styled(figure.value, style_of(figure.tone), terminal.colour), figure.label);
      if (!figure.note.empty()) line += " (" + report::strip_marks(figure.note) + ")";
      out += line + "\n";
    }
  }
  void alternative(const std::string& of_drawing) const {
    if (!of_drawing.empty()) text(of_drawing, 0);
  }
};

}  // namespace

std::string section_text(const report::Section& section, const Terminal& terminal) {
  std::string out;
  if (!section.title.empty()) out += styled(section.title, Style::bold, terminal.colour) + "\n\n";
  for (std::size_t i = 0; i < section.blocks.size(); ++i) {
    if (i > 0) out += "\n";
    std::visit(BlockWriter{terminal, out}, section.blocks[i]);
  }
  return out;
}

std::string answer_text(const report::ReportModel& report, const Terminal& terminal) {
  return wrapped(report.asked, terminal.width, 0) + "\n\n" + section_text(report.answer, terminal);
}

report::ReportModel before_change(report::ReportModel report, const std::string& run, const Terminal& terminal) {
  if (!terminal.interactive) return report;
  const auto how = words().text(report::messages::next_apply(run));
  std::erase_if(report.answer.blocks, [&](const report::Block& block) {
    const auto* paragraph = std::get_if<report::Paragraph>(&block);
    return std::holds_alternative<report::Facts>(block) || std::holds_alternative<report::Table>(block) ||
           (paragraph != nullptr && paragraph->text == how);
  });
  return report;
}

void print_answer(const report::ReportModel& report, const Terminal& terminal) {
  fmt::print("\n{}\n", answer_text(report, terminal));
}

}  // namespace ridgeline::app
