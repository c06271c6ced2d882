// SPDX-License-Identifier: Apache-2.0
// The answer as one picture that refers to nothing outside it; its colours follow the reader's light or dark theme.
#include <algorithm>

#include <fmt/format.h>

#include "report/inline_text.hpp"
#include "report/markup.hpp"
#include "report/renderers.hpp"
#include "report/svg/svg_text.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr double kWidth = 860;
constexpr double kMargin = 32;
constexpr double kInner = kWidth - 2 * kMargin;
constexpr double kLineHeight = 1.45;

constexpr std::string_view kStyle = R"(<style>
svg { --page: #ffffff; --panel: #f6f8f8; --line: #dde3e4; --ink: #182022; --soft: #4f5c60; --bar: #98a5a9;
  --good: #0b6e69; --good-soft: #e3f1f0; --warning: #8a5600; --warning-soft: #fbf1de; --bad: #ab2a22; --bad-soft: #fbe9e7; }
@media (prefers-color-scheme: dark) {
  svg { --page: #111617; --panel: #1a2123; --line: #2c3639; --ink: #e6ecec; --soft: #a3b1b4; --bar: #6d7c80;
    --good: #62cdc6; --good-soft: #173230; --warning: #e6b45c; --warning-soft: #33270f; --bad: #ff9187; --bad-soft: #3a1d1a; }
}
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", sans-serif; fill: var(--ink); }
.bold { font-weight: 650; } .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.soft { fill: var(--soft); } .page { fill: var(--page); stroke: var(--line); } .rule { stroke: var(--line); }
.panel.neutral { fill: var(--panel); } .panel.good { fill: var(--good-soft); } .panel.warning { fill: var(--warning-soft); }
.panel.bad { fill: var(--bad-soft); }
.edge.neutral { fill: var(--bar); } .edge.good { fill: var(--good); } .edge.warning { fill: var(--warning); } .edge.bad { fill: var(--bad); }
.name.good { fill: var(--good); } .name.warning { fill: var(--warning); } .name.bad { fill: var(--bad); }
.whisker { stroke: var(--ink); stroke-width: 1.5; fill: none; }
</style>
)";

/// "intra_op_num_threads", unlike "Highest throughput".
bool is_setting(const std::string& key) {
  return !key.empty() && key.front() >= 'a' && key.front() <= 'z' && key.find(' ') == std::string::npos;
}

/// Draws from top to bottom; `y` is where the next thing begins.
struct SvgWriter {
  std::string out;
  double y = kMargin;

  void operator()(const Callout& block) {
    constexpr double kPad = 18;
    constexpr double kNameSize = 15;
    constexpr double kTextSize = 18;
    const auto names = wrap_inline("**" + plain_text(block.title) + "**", kNameSize, kInner - 2 * kPad);
    const auto lines = wrap_inline(block.text, kTextSize, kInner - 2 * kPad);
    const double height = 2 * kPad + kLineHeight * (kNameSize * static_cast<double>(names.size()) +
                                                    kTextSize * static_cast<double>(lines.size()));
    const auto tone = tone_name(block.tone);
    out += fmt::format(
        "<rect class=\"panel {0}\" x=\"{1}\" y=\"{2:.1f}\" width=\"{3}\" height=\"{4:.1f}\" rx=\"8\"/>\n"
        "<rect class=\"edge {0}\" x=\"{1}\" y=\"{2:.1f}\" width=\"4\" height=\"{4:.1f}\" rx=\"2\"/>\n",
        tone, kMargin, y, kInner, height);
    const double top = y;
    y += kPad;
    write_lines(names, kNameSize, kMargin + kPad, fmt::format("name {}", tone));
    write_lines(lines, kTextSize, kMargin + kPad, "");
    y = top + height + 18;
  }

  void operator()(const Facts& block) {
    for (const auto& [key, value] : block.rows) write_pair(is_setting(key) ? code_mark(key) : plain_text(key), value);
    y += 8;
  }
  void operator()(const KeyFigures& block) {
    for (const auto& figure : block.figures)
      write_pair(plain_text(figure.label),
                 fmt::format("**{}**{}", plain_text(figure.value), figure.note.empty() ? "" : " " + figure.note));
    y += 8;
  }
  void operator()(const BulletList& block) {
    for (const auto& item : block.items) write_text("• " + item, kSmallSize, "");
    y += 8;
  }
  void operator()(const Paragraph& block) {
    write_text(block.text, kSmallSize, "");
    y += 8;
  }
  /// What is more than a picture of the answer can hold.
  template <typename Other>
  void operator()(const Other& /*block*/) {}

  void operator()(const Bars& block) {
    constexpr double kLabelWidth = 190;
    constexpr double kValueWidth = 150;
    constexpr double kBarHeight = 20;
    constexpr double kMostOfValue = 1.5;  // an interval does not shrink the bars to nothing
    double top_value = 0;
    double most = 0;
    for (const auto& bar : block.bars) {
      top_value = std::max(top_value, bar.value);
      most = std::max({most, bar.value, bar.high});
    }
    if (top_value <= 0) return;
    most = std::min(most, kMostOfValue * top_value);
    const double left = kMargin + kLabelWidth;
    const auto at = [&](double value) {
      return left + (kInner - kLabelWidth - kValueWidth) * std::clamp(value / most, 0.0, 1.0);
    };
    write_text(block.title, kSmallSize, "soft");
    y += 8;
    for (const auto& bar : block.bars) {
      const auto labels = wrap_inline(plain_text(bar.label), kSmallSize, kLabelWidth - 16);
      const double middle = y + kBarHeight / 2;
      const double end = std::max(at(bar.value), at(bar.high));
      out +=
          fmt::format("<rect class=\"edge {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/>\n",
                      tone_name(bar.tone), left, y, at(bar.value) - left, kBarHeight);
      if (bar.low < bar.high) {
        out += fmt::format("<path class=\"whisker\" d=\"M{0:.1f} {1:.1f}V{2:.1f}M{0:.1f} {3:.1f}H{4:.1f}", at(bar.low),
                           middle - 5, middle + 5, middle, at(bar.high));
        if (bar.high <= most) out += fmt::format("M{:.1f} {:.1f}V{:.1f}", at(bar.high), middle - 5, middle + 5);
        out += "\"/>\n";
      }
      const double top = y;
      y = middle - kSmallSize * kLineHeight / 2;
      write_lines({{{one_line(bar.text), Letters::bold}}}, kSmallSize, end + 12, "");
      y = middle - kSmallSize * kLineHeight / 2;
      write_lines(labels, kSmallSize, kMargin, "");
      y = std::max(y, top + kBarHeight) + 8;
    }
    y += 10;
  }

  void write_text(std::string_view text, double size, std::string_view style) {
    write_lines(wrap_inline(text, size, kInner), size, kMargin, style);
  }

  void write_pair(const std::string& key, const std::string& value) {
    constexpr double kKeyWidth = 260;
    const double top = y;
    write_lines(wrap_inline(key, kSmallSize, kKeyWidth - 16), kSmallSize, kMargin, "soft");
    const double bottom = y;
    y = top;
    write_lines(wrap_inline(value, kSmallSize, kInner - kKeyWidth), kSmallSize, kMargin + kKeyWidth, "");
    y = std::max(y, bottom) + 2;
  }

  void write_lines(const std::vector<Line>& lines, double size, double x, std::string_view style) {
    constexpr double kBaseline = 1.07;  // of the letters' size below the line's top
    for (const auto& line : lines) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}>", x, y + size * kBaseline, size,
                         style.empty() ? "" : fmt::format(" class=\"{}\"", style));
      for (const auto& piece : line) {
        const auto text = escape_markup(piece.text);
        out += piece.letters == Letters::plain  ? text
               : piece.letters == Letters::bold ? "<tspan class=\"bold\">" + text + "</tspan>"
                                                : "<tspan class=\"mono\">" + text + "</tspan>";
      }
      out += "</text>\n";
      y += size * kLineHeight;
    }
  }

  static constexpr double kSmallSize = 14.5;
};

}  // namespace

std::string render_svg(const ReportModel& report) {
  constexpr double kAskedSize = 17;
  constexpr double kFooterSize = 12.5;
  SvgWriter writer;
  const auto& asked = report.asked.empty() ? report.title : report.asked;
  writer.write_text("**" + plain_text(asked) + "**", kAskedSize, "");
  writer.y += 14;
  const auto& blocks = report.answer.blocks;
  const auto callouts_end = std::find_if_not(blocks.begin(), blocks.end(),
                                             [](const auto& block) { return std::holds_alternative<Callout>(block); });
  std::for_each(blocks.begin(), callouts_end, [&](const auto& block) { std::visit(writer, block); });
  writer(report.bars);
  std::for_each(callouts_end, blocks.end(), [&](const auto& block) { std::visit(writer, block); });
  writer.y += 4;
  writer.out += fmt::format("<line class=\"rule\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", kMargin,
                            kWidth - kMargin, writer.y);
  writer.y += 12;
  for (const auto& line : {report.subtitle, report.footer}) writer.write_text(plain_text(line), kFooterSize, "soft");
  const double height = writer.y + kMargin - 8;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
      "role=\"img\" "
      "aria-labelledby=\"title\">\n<title id=\"title\">{2}</title>\n{3}"
      "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{4}\" height=\"{5:.0f}\" rx=\"12\"/>\n{6}</svg>\n",
      kWidth, height, escape_markup(one_line(asked)), kStyle, kWidth - 1, height - 1, writer.out);
}

}  // namespace ridgeline::report
