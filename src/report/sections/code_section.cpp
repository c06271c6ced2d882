// SPDX-License-Identifier: Apache-2.0
// The code that makes a session of the answer, and what became of it when it was run.
#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {
namespace {

constexpr std::string_view kOneAtATime = "one at a time";

/// What became of the lines.
std::string run_text(const schema::MessageRenderer& words, std::string_view language, const schema::CodeRun& run,
                     std::string_view waits) {
  if (run.median_s)
    return fmt::format("The {} lines were run with {}: {} an inference (median, {}).", language, run.command,
                       base::format_duration(*run.median_s * 1e9), waits);
  const auto problem = words.line(run.problem);
  if (run.command.empty()) return fmt::format("The {} lines were not run: {}.", language, problem);
  return fmt::format("The {} lines failed with {}: {}.", language, run.command, problem);
}

/// How much the code of a PyTorch model may differ from its trial before that is worth a word.
constexpr double kAsMeasured = 0.1;

/// What the lines took beside what their trial took.
std::string against_trial(const TuneView& view, const schema::CodeRun& run) {
  const auto* best = view.recommended() != nullptr ? view.ranked(view.recommended()->id) : nullptr;
  if (best == nullptr || !run.median_s) return {};
  const double ratio = *run.median_s * 1e9 / best->summary.median_ns;
  if (std::abs(ratio - 1) <= kAsMeasured) return " That is what their trial took.";
  return fmt::format(" Their trial took {}: these lines are {} {}.", base::format_duration(best->summary.median_ns),
                     percent(std::abs(ratio - 1)), ratio > 1 ? "slower" : "faster");
}

/// What the lines took beside `whose` of the current configuration, and what follows.
std::string against_current(const TuneView& view, const schema::CodeRun& run, std::optional<double> current_s,
                            std::string_view whose) {
  if (!view.changes() || !run.median_s || !current_s || !(*run.median_s > 0) || !(*current_s > 0)) return {};
  const double ratio = *current_s / *run.median_s;
  const double least = 1 + analysis::separate_floor();
  const auto took =
      fmt::format("{} of the current configuration took {}", whose, base::format_duration(*current_s * 1e9));
  if (ratio >= least)
    return fmt::format(" The {}: these are {} as fast, so the gain is there in a program of your own.", took,
                       ratio_text(ratio, 2));
  if (ratio <= 1 / least)
    return fmt::format(
        " The {}: these are **slower**, {} as fast. The gain of the trials is not seen here; time your own program "
        "with "
        "both before you change it.",
        took, ratio_text(ratio, 2));
  const auto& gain = view.run.verdict->gain;
  return fmt::format(" The {}: these are as fast, as far as one run each can tell{}.", took,
                     gain && gain->low > least
                         ? ". The gain of the trials is not seen here; time your own program with both before you "
                           "change it"
                         : "");
}

void add_python_model(Section& section, const TuneView& view, const schema::LoadingCode& code) {
  // The device is waited for as in the trials.
  const bool in_blocks = view.on_gpu() && view.run.objective == schema::Objective::throughput;
  section.blocks.emplace_back(Paragraph{"The code, around the line that makes your model:"});
  section.blocks.emplace_back(CodeBlock{"python", code.python});
  if (!code.python_run) return;
  const auto* now = view.current() != nullptr ? view.ranked(view.current()->id) : nullptr;
  const auto current_s = now != nullptr ? std::optional(now->summary.median_ns * 1e-9) : std::nullopt;
  section.blocks.emplace_back(
      Paragraph{run_text(view.words, "Python", *code.python_run, in_blocks ? "in blocks" : kOneAtATime) +
                against_trial(view, *code.python_run) + against_current(view, *code.python_run, current_s, "trial")});
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
  section.blocks.emplace_back(Paragraph{
      !same            ? "It runs on another runtime or provider; code that loads it:"
      : view.changes() ? "A session with the recommended configuration, for programs that do not read a config.yaml:"
                       : "A session with the current configuration, for programs that do not read a config.yaml:"});
  if (!code.install.empty()) section.blocks.emplace_back(CodeBlock{"sh", code.install + "\n"});
  section.blocks.emplace_back(CodeBlock{"python", code.python});
  const auto add_run = [&](std::string_view language, const std::optional<schema::CodeRun>& run) {
    if (!run) return;
    section.blocks.emplace_back(Paragraph{run_text(view.words, language, *run, kOneAtATime) +
                                          against_current(view, *run, run->current_median_s, "same lines")});
  };
  add_run("Python", code.python_run);
  section.blocks.emplace_back(CodeBlock{"cpp", code.cpp});
  add_run("C++", code.cpp_run);
  return section;
}

}  // namespace ridgeline::report
