// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/doctor_text.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/utf8.hpp"

namespace ridgeline::app {
namespace {

using doctor::Check;
using doctor::CheckStatus;

constexpr int kTitleAt = 10;  // after "  – skip  "
constexpr int kEvidenceAt = 30;

struct StatusLook {
  std::string_view glyph;
  std::string_view word;
  Style style;
};

/// Without `unicode` in ASCII.
StatusLook look_of(CheckStatus status, bool unicode = true) noexcept {
  switch (status) {
    case CheckStatus::ok: return {unicode ? "✓" : "+", "ok", Style::good};
    case CheckStatus::warn: return {"!", "warn", Style::warning};
    case CheckStatus::fail: return {unicode ? "✗" : "x", "fail", Style::bad};
    case CheckStatus::skipped: return {unicode ? "–" : "-", "skip", Style::dim};
  }
  return {"?", "?", Style::dim};
}

std::string blanks(int count) { return std::string(static_cast<std::size_t>(count), ' '); }

std::string padded(std::string_view text, int width) {
  const auto columns = static_cast<int>(report::columns_of(text));
  return std::string(text) + (columns < width ? blanks(width - columns) : " ");
}

std::string head_of(const StatusLook& look, std::string_view title, bool colour) {
  return fmt::format("  {} {}",
                     styled(padded(fmt::format("{} {}", look.glyph, look.word), kTitleAt - 3), look.style, colour),
                     padded(title, kEvidenceAt - kTitleAt));
}

/// Wrapped between column kEvidenceAt and the terminal's width.
std::string evidence_of(const std::string& text, const Terminal& terminal) {
  return wrapped(report::one_line(text), terminal.width - kEvidenceAt, 0);
}

/// Every line after the first moved to column `indent`.
std::string indented(const std::string& text, int indent) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += blanks(indent);
  }
  return out;
}

/// At most `columns` columns (8 at the least); a cut ends in "…", or in "..." without `unicode`.
std::string cut(const std::string& line, int columns, bool unicode) {
  const auto room = static_cast<std::size_t>(std::max(columns, 8));
  if (unicode || report::columns_of(line) <= room) return report::shorten(line, room);
  auto head = report::shorten(line, room - 2);
  head.resize(head.size() - std::string_view("…").size());
  return head + "...";
}

/// The line over as many as it takes; a path that is wider than one is broken behind a slash.
std::string spread(const std::string& line, int columns) {
  const auto room = static_cast<std::size_t>(std::max(columns, 20));
  std::string parts;
  std::size_t from = 0;  // of the word
  std::size_t slash = 0;
  for (const char c : line) {
    if (c != ' ' && slash > from && report::columns_of(std::string_view(parts).substr(from)) >= room) {
      parts.insert(slash, " ");
      from = slash + 1;
    }
    parts += c;
    if (c == ' ') from = parts.size();
    if (c == '/' || c == ' ') slash = parts.size();
  }
  return wrapped(parts, columns, 0);
}

/// What there is to say of a check that found nothing wrong, from column `at` on: whole where no terminal cuts it, a
/// library's path over as many lines as it takes, else what fits a line.
std::string calm_line(const Check& check, const std::string& line, int at, const Terminal& terminal, bool unicode) {
  const int room = terminal.width - at;
  if (!terminal.interactive) return line;
  if (check.group == doctor::CheckGroup::libraries) return indented(spread(line, room), at);
  return cut(line, std::max(room, 20), unicode);
}

std::string check_lines(const schema::MessageRenderer& words, const Check& check, const Terminal& terminal,
                        bool unicode) {
  const bool bad = check.status == CheckStatus::warn || check.status == CheckStatus::fail;
  auto out = head_of(look_of(check.status, unicode), words.text(check.title), terminal.colour);
  const auto evidence = words.text(check.evidence);
  if (!bad) {
    const auto shown = calm_line(check, report::one_line(evidence), kEvidenceAt, terminal, unicode);
    return out + (check.status == CheckStatus::skipped ? styled(shown, Style::dim, terminal.colour) : shown) + "\n";
  }
  out += indented(evidence_of(evidence, terminal), kEvidenceAt) + "\n";
  if (!check.fix.empty())
    out += blanks(kEvidenceAt) + indented(evidence_of("-> " + words.text(check.fix), terminal), kEvidenceAt) + "\n";
  for (const auto& command : check.commands)
    out += blanks(kEvidenceAt) + styled("$ " + command, Style::accent, terminal.colour) + "\n";
  return out;
}

std::string summary_of(const doctor::DoctorReport& report, const Terminal& terminal) {
  const auto part = [&](CheckStatus status, std::string text) {
    return report.count(status) == 0 ? std::move(text) : styled(text, look_of(status).style, terminal.colour);
  };
  return fmt::format("{} ok, {}, {}, {} skipped", report.count(CheckStatus::ok),
                     part(CheckStatus::warn, report::counted(report.count(CheckStatus::warn), "warning")),
                     part(CheckStatus::fail, report::counted(report.count(CheckStatus::fail), "failure")),
                     report.count(CheckStatus::skipped));
}

/// Whether this machine is ready, and the first things that it lacks.
std::string verdict_of(const schema::MessageRenderer& words, const doctor::DoctorReport& report,
                       const Terminal& terminal, bool unicode) {
  constexpr std::size_t kShownFaults = 3;
  const auto failures = report.count(CheckStatus::fail);
  const auto warnings = report.count(CheckStatus::warn);
  const auto status = failures > 0 ? CheckStatus::fail : warnings > 0 ? CheckStatus::warn : CheckStatus::ok;
  const auto bar = styled(unicode ? "▌ " : "| ", look_of(status).style, terminal.colour);
  const auto* title = failures > 0   ? "Not ready: something has to be fixed first"
                      : warnings > 0 ? "Ready, but slower or less exact than it could be"
                                     : "Ready";
  auto out = bar + styled(title, Style::bold, terminal.colour) + "\n" + bar + summary_of(report, terminal) + "\n";
  std::size_t shown = 0;
  for (const auto& check : report.checks) {
    if (check.status != status || status == CheckStatus::ok || shown++ == kShownFaults) continue;
    const auto line = report::one_line(words.text(check.title) + ": " + words.text(check.evidence));
    for (const auto& part : base::split(wrapped(line, terminal.width - 2, 0), '\n')) out += bar + part + "\n";
  }
  return out;
}

}  // namespace

std::string doctor_text(const schema::MessageRenderer& words, const doctor::DoctorReport& report,
                        const Terminal& terminal, bool unicode) {
  auto out =
      fmt::format("{}  {}{}\n", styled("ridgeline doctor " + report.ridgeline_version, Style::bold, terminal.colour),
                  report.hostname, report.os.empty() ? "" : ", " + report.os);
  for (std::size_t i = 0; i < report.checks.size();) {
    const auto group = report.checks[i].group;
    out += styled(doctor::group_title(group), Style::bold, terminal.colour) + "\n";
    // Checks of the same group that have nothing to look at share a line.
    std::size_t without_gpu = 0;
    for (; i < report.checks.size() && report.checks[i].group == group; ++i) {
      const auto& check = report.checks[i];
      if (check.status == CheckStatus::skipped && check.evidence.is("doctor.no_gpu"))
        ++without_gpu;
      else
        out += check_lines(words, check, terminal, unicode);
    }
    if (without_gpu > 0)
      out += head_of(look_of(CheckStatus::skipped, unicode), report::counted(without_gpu, "check"), terminal.colour) +
             styled(without_gpu == 1 ? "needs a GPU" : "need a GPU", Style::dim, terminal.colour) + "\n";
  }
  out += "\n" + verdict_of(words, report, terminal, unicode);
  return out + "next     " +
         (report.exit_code() != 0 ? "ridgeline doctor --fix-hints   (the fixes as a checklist)"
                                  : "ridgeline tune model.onnx") +
         "\n";
}

std::string fix_hints_text(const schema::MessageRenderer& words, const doctor::DoctorReport& report,
                           const Terminal& terminal, bool unicode) {
  auto out =
      styled("Checklist for this machine", Style::bold, terminal.colour) + ": " + summary_of(report, terminal) + "\n";
  std::optional<doctor::CheckGroup> group;
  std::set<std::string> given;  // a command stands where it is first wanted
  for (const auto& check : report.checks) {
    if (check.status == CheckStatus::skipped) continue;
    if (group != check.group) {
      group = check.group;
      out += "\n" + styled(doctor::group_title(*group), Style::bold, terminal.colour) + "\n";
    }
    const bool done = check.status == CheckStatus::ok;
    const auto evidence = report::one_line(words.text(check.title) + ": " + words.text(check.evidence));
    out += done ? "[x] " : styled("[ ] ", look_of(check.status).style, terminal.colour);
    out += (done ? calm_line(check, evidence, 4, terminal, unicode)
                 : indented(wrapped(evidence, terminal.width - 4, 0), 4)) +
           "\n";
    if (done) continue;
    if (!check.fix.empty())
      out += "    " + indented(wrapped(report::one_line(words.text(check.fix)), terminal.width - 4, 0), 4) + "\n";
    for (const auto& command : check.commands)
      if (given.insert(command).second) out += "      " + styled(command, Style::accent, terminal.colour) + "\n";
  }
  return out;
}

}  // namespace ridgeline::app
