// SPDX-License-Identifier: Apache-2.0
// What the run as a whole gained.
#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "analysis/proof.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

std::string cost_text(const RankedTrial& ranked, schema::Objective objective) {
  if (objective == schema::Objective::throughput)
    return fmt::format("{}/s", base::format_count(ranked.summary.throughput_per_s));
  return base::format_duration(ranked.measured.value);
}

std::string numbers(const Evidence& evidence) {
  const auto* chosen = evidence.chosen;
  const auto* reference = evidence.reference;
  const auto* what = evidence.run.objective == schema::Objective::latency ? "median"
                     : evidence.run.objective == schema::Objective::p99   ? "tail latency"
                                                                          : "throughput";
  std::string text;
  const auto& gain = evidence.run.verdict->gain;
  if (gain) text = fmt::format("{}, {} interleaved ABBA rounds", interval_text(*gain), gain->abba_rounds);
  if (chosen == nullptr || reference == nullptr || chosen == reference) return text;
  if (evidence.uneven || (gain && !agrees(*gain, reference->measured.value, chosen->measured.value))) return text;
  return fmt::format("{}{}{} {} (trial {}) against {} (trial {})", text, text.empty() ? "" : "; ", what,
                     cost_text(*chosen, evidence.run.objective), chosen->trial->id,
                     cost_text(*reference, evidence.run.objective), reference->trial->id);
}

/// What the recommendation changes, with the verb: "a=4 is", "a=4 and b=1 together are", "Trial 7, which changes 6
/// settings, is". The gain is that of all of it, values that fall back to their default too.
std::string change_is(const schema::TuneRun& run) {
  constexpr std::size_t kMostNamed = 4;
  const auto& recommended = run.verdict->configuration;
  const auto keys = schema::differing_keys(run.current, recommended);
  if (keys.empty()) return fmt::format("Trial {} is", run.verdict->trial_id);
  if (keys.size() > kMostNamed)
    return fmt::format("Trial {}, which changes {} settings, is", run.verdict->trial_id, keys.size());
  std::vector<std::string> settings;
  for (const auto& key : keys) settings.push_back(setting_text(recommended, key));
  return base::listed(settings) + (keys.size() == 1 ? " is" : " together are");
}

/// "trial 7": the earliest of the configuration.
std::string trial_text(const schema::TuneRun& run, const schema::Configuration& configuration) {
  for (const auto& trial : run.trials)
    if (trial.configuration == configuration) return fmt::format("trial {}", trial.id);
  return "another configuration";
}

void add_keep(const schema::TuneRun& run, Finding& finding) {
  if (const auto* undecided = undecided_finalist(run)) {
    finding.title = fmt::format("Not decided: whether {} beats what you have", trial_text(run, undecided->b));
    finding.evidence = interval_text(*undecided->comparison) + ": too wide to tell";
    finding.advice = "Repeat with --fresh on an idle machine or with more time";
    return;
  }
  if (tried_others(run)) {
    finding.title = fmt::format("Keep what you have: nothing tried beats it by {:g} % or more", run.min_effect * 100);
    // Not the verdict's reason, which says the title again.
    if (const auto* best = best_finalist(run))
      finding.evidence =
          fmt::format("{}{}: {}", looks_slower(*best->comparison, run.min_effect) ? "" : "the best other one, ",
                      trial_text(run, best->b), interval_text(*best->comparison));
    else if (!run.verdict->gain)
      finding.evidence = "no other one came near it";
    return;
  }
  finding.title = "Not decided: no other configuration was tried";
  finding.evidence = "only the current configuration was measured";
  finding.advice = "Search again with a longer --max-time or a larger space";
}

void add_none(const schema::TuneVerdict& verdict, bool interrupted, Finding& finding) {
  if (verdict.trial_id != 0) {
    finding.title = "No recommendation: the finalists were not compared";
    finding.evidence = verdict.reason;
    if (interrupted) finding.advice = "Run the same command again: it continues where it stopped";
    return;
  }
  finding.title = "No recommendation: no trial ran to the end and met the constraints";
  finding.advice = "See the failures and constraints below; relax a constraint or fix the first failure";
}

}  // namespace

std::vector<Finding> gain_rule(const Evidence& evidence) {
  const auto& run = evidence.run;
  if (!run.verdict) return {};
  Finding finding;
  finding.kind = FindingKind::gain;
  switch (run.verdict->decision) {
    case schema::Decision::change:
      finding.title = run.verdict->gain ? fmt::format("{} {} the current configuration", change_is(run),
                                                      effect_against(*run.verdict->gain))
                                        : change_is(run) + " what runs; nothing was compared";
      finding.advice = fmt::format("Apply it with: ridgeline apply {} --config FILE", run.id);
      break;
    case schema::Decision::keep: add_keep(run, finding); break;
    case schema::Decision::none: add_none(*run.verdict, run.interrupted, finding); break;
  }
  if (finding.evidence.empty()) finding.evidence = numbers(evidence);
  if (finding.evidence.empty()) finding.evidence = run.verdict->reason;
  return {finding};
}

}  // namespace ridgeline::analysis
