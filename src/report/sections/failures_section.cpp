// SPDX-License-Identifier: Apache-2.0
#include "analysis/failure_memory.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

std::string phase_words(schema::TrialPhase phase) {
  auto words = std::string(base::enum_name(phase));
  for (auto& c : words)
    if (c == '_') c = ' ';
  return words;
}

std::string cause(const TuneView& view, const schema::TrialOutcome& outcome) {
  std::vector<std::string> parts;
  if (outcome.failure) {
    if (!outcome.failure->message.empty()) parts.push_back(plain_text(view.words.line(outcome.failure->message)));
    if (outcome.failure->signal) parts.push_back(fmt::format("signal {}", *outcome.failure->signal));
    if (outcome.failure->exit_code) parts.push_back(fmt::format("exit code {}", *outcome.failure->exit_code));
    if (outcome.failure->requested_bytes)
      parts.push_back(view.text(messages::asked_for(static_cast<double>(*outcome.failure->requested_bytes))));
  }
  if (const auto memory = analysis::memory_found(outcome); !memory.empty())
    parts.push_back(plain_text(view.words.text(memory)));
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : "; ") + part;
  return out.empty() ? std::string(kAbsent) : out;
}

std::string output_error_cell(const schema::TrialOutcome& outcome) {
  return outcome.output_error ? fmt::format("{:.1e}", outcome.output_error->scaled_max_abs) : std::string(kAbsent);
}

}  // namespace

Section failures_section(const TuneView& view) {
  Section section{"failures", "Failures", {}};
  Table table{view.text(messages::tune_failures_table()),
              {{"Trial", Align::right},
               {"How"},
               {"Phase"},
               {"Settings that differ"},
               {"Why"},
               {"Output error", Align::right},
               {"After", Align::right}},
              {}};
  std::vector<std::pair<int, std::string>> tails;
  for (const auto& trial : view.run.trials) {
    const auto* outcome = view.outcome(trial);
    if (outcome == nullptr || outcome->status == schema::TrialStatus::ok) continue;
    const auto rejected = outcome->status == schema::TrialStatus::rejected_accuracy;
    table.rows.push_back({{trial_link(trial.id), status_text(outcome->status),
                           outcome->failure ? phase_words(outcome->failure->phase) : std::string(kAbsent),
                           view.difference_marked(trial.configuration), cause(view, *outcome),
                           output_error_cell(*outcome), base::format_duration(outcome->duration_s * 1e9)},
                          rejected ? Tone::warning : Tone::bad,
                          ""});
    if (outcome->failure && !one_line(outcome->failure->stderr_tail).empty())
      tails.emplace_back(trial.id, outcome->failure->stderr_tail);
  }
  if (table.rows.empty()) {
    if (!view.run.trials.empty())
      section.blocks.emplace_back(
          Paragraph{view.text(messages::tune_no_failure(view.endings().completed == view.run.trials.size()))});
    return section;
  }
  section.blocks.emplace_back(Paragraph{
      view.text(messages::tune_failures({.failed = std::ssize(table.rows), .trials = std::ssize(view.run.trials)}))});
  section.blocks.emplace_back(std::move(table));
  constexpr std::size_t kTailsShown = 8;
  for (std::size_t i = 0; i < tails.size() && i < kTailsShown; ++i) {
    section.blocks.emplace_back(Paragraph{view.linked(messages::tune_last_output(tails[i].first))});
    section.blocks.emplace_back(CodeBlock{"text", clean_utf8(tails[i].second)});
  }
  return section;
}

}  // namespace ridgeline::report
