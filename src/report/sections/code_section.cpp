// SPDX-License-Identifier: Apache-2.0
// The code that makes a session of the answer, and what became of it when it was run.
#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

using schema::Message;

/// What became of the lines. `in_blocks`: the device was waited for at the end of many calls.
Message outcome_of(std::string_view language, const schema::CodeRun& run, bool in_blocks) {
  if (run.median_s)
    return messages::tune_code_ran(
        {.language = std::string(language), .command = run.command, .time = *run.median_s * 1e9, .blocks = in_blocks});
  return messages::tune_code_failed(
      {.language = std::string(language), .command = run.command, .problem = run.problem});
}

/// How much the code of a PyTorch model may differ from its trial before that is worth a word.
constexpr double kAsMeasured = 0.1;

/// What the lines took beside what their trial took.
Message against_trial(const TuneView& view, const schema::CodeRun& run) {
  const auto* best = view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  if (best == nullptr || !run.median_s) return {};
  const double more = *run.median_s * 1e9 / best->summary.median_ns - 1;
  return messages::tune_code_as_trial(
      {.time = best->summary.median_ns,
       .difference = std::abs(more) > kAsMeasured ? std::optional(std::abs(more)) : std::nullopt,
       .slower = more > 0});
}

/// What the lines took beside those of the current configuration, or its trial, and what follows.
Message against_current(const TuneView& view, const schema::CodeRun& run, std::optional<double> current_s,
                        bool is_trial) {
  using enum messages::TuneCodeAgainstCurrentFound;
  if (!view.changes() || !run.median_s || !current_s || !(*run.median_s > 0) || !(*current_s > 0)) return {};
  const double ratio = *current_s / *run.median_s;
  const double least = 1 + analysis::separate_floor();
  const auto found = ratio >= least ? faster : ratio <= 1 / least ? slower : same;
  const auto& gain = view.run.verdict->gain;
  return messages::tune_code_against_current({.trial = is_trial,
                                              .time = *current_s * 1e9,
                                              .found = found,
                                              .times = ratio,
                                              .lost = found == slower || (found == same && gain && gain->low > least)});
}

Paragraph paragraph_of(const TuneView& view, const std::vector<Message>& said) {
  std::string out;
  for (const auto& one : view.words.texts(said))
    if (!one.empty()) out += (out.empty() ? "" : " ") + one;
  return {out};
}

void add_python_model(Section& section, const TuneView& view, const schema::LoadingCode& code) {
  // The device is waited for as in the trials.
  const bool in_blocks = view.on_gpu() && view.run.request.objective == schema::Objective::throughput;
  section.blocks.emplace_back(Paragraph{view.text(messages::tune_code_python())});
  section.blocks.emplace_back(CodeBlock{"python", code.python});
  if (!code.python_run) return;
  const auto* now = view.current() != nullptr ? view.ranked(view.current()->id) : nullptr;
  const auto current_s = now != nullptr ? std::optional(now->summary.median_ns * 1e-9) : std::nullopt;
  section.blocks.emplace_back(
      paragraph_of(view, {outcome_of("Python", *code.python_run, in_blocks), against_trial(view, *code.python_run),
                          against_current(view, *code.python_run, current_s, true)}));
}

}  // namespace

Section code_section(const TuneView& view) {
  Section section{"code", "The code", {}};
  if (!view.run.verdict || !view.run.verdict->code) return section;
  const auto& code = *view.run.verdict->code;
  if (code.cpp.empty()) {
    add_python_model(section, view, code);
    return section;
  }
  const auto& verdict = *view.run.verdict;
  const bool same = schema::candidate_of(verdict.configuration) == schema::candidate_of(view.run.current);
  using enum messages::TuneCodeOf;
  section.blocks.emplace_back(Paragraph{view.text(messages::tune_code(!same            ? elsewhere
                                                                      : view.changes() ? recommended
                                                                                       : current))});
  if (!code.install.empty()) section.blocks.emplace_back(CodeBlock{"sh", code.install + "\n"});
  section.blocks.emplace_back(CodeBlock{"python", code.python});
  const auto add_run = [&](std::string_view language, const std::optional<schema::CodeRun>& run) {
    if (!run) return;
    section.blocks.emplace_back(paragraph_of(
        view, {outcome_of(language, *run, false), against_current(view, *run, run->current_median_s, false)}));
  };
  add_run("Python", code.python_run);
  section.blocks.emplace_back(CodeBlock{"cpp", code.cpp});
  add_run("C++", code.cpp_run);
  return section;
}

}  // namespace ridgeline::report
