// SPDX-License-Identifier: Apache-2.0
// What the run as a whole gained.
#include "analysis/comparison.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/messages.hpp"
#include "analysis/proof.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

schema::Message costs_of(const Evidence& evidence) {
  const auto* chosen = evidence.chosen;
  const auto* reference = evidence.reference;
  const auto& gain = evidence.run.verdict->gain;
  if (chosen == nullptr || reference == nullptr || chosen == reference) return {};
  if (evidence.uneven || (gain && !agrees(*gain, reference->measured.value, chosen->measured.value))) return {};
  if (evidence.run.request.objective == schema::Objective::throughput)
    return messages::throughput_against({.chosen = chosen->summary.throughput_per_s,
                                         .trial = chosen->trial->id,
                                         .reference = reference->summary.throughput_per_s,
                                         .other = reference->trial->id});
  return messages::times_against({.tail = evidence.run.request.objective == schema::Objective::p99,
                                  .chosen = chosen->measured.value,
                                  .trial = chosen->trial->id,
                                  .reference = reference->measured.value,
                                  .other = reference->trial->id});
}

schema::Message numbers_of(const Evidence& evidence) {
  const auto& gain = evidence.run.verdict->gain;
  auto costs = costs_of(evidence);
  if (!gain && costs.empty()) return {};
  return messages::gain_evidence({.interval = gain ? interval_of(*gain) : schema::Message(),
                                  .rounds = gain ? gain->abba_rounds : 0,
                                  .costs = std::move(costs)});
}

/// What the recommendation changes, with the verb: "a=4 is", "a=4 and b=1 together are", "Trial 7, which changes 6
/// settings, is". The gain is that of all of it, values that fall back to their default too.
schema::Message change_is(const schema::TuneRun& run) {
  constexpr std::size_t kMostNamed = 4;
  const auto& recommended = run.verdict->configuration;
  const auto keys = schema::differing_keys(run.current, recommended);
  if (keys.empty()) return messages::change_of_trial({.trial = run.verdict->trial_id, .settings = {}});
  if (keys.size() > kMostNamed)
    return messages::change_of_trial(
        {.trial = run.verdict->trial_id, .settings = static_cast<std::int64_t>(keys.size())});
  std::vector<schema::Message> settings;
  for (const auto& key : keys) settings.push_back(setting_of(recommended, key));
  return messages::change_of_settings({.settings = std::move(settings), .several = keys.size() > 1});
}

/// The earliest trial of the configuration.
std::optional<int> trial_with(const schema::TuneRun& run, const schema::Configuration& configuration) {
  for (const auto& trial : run.trials)
    if (trial.configuration == configuration) return trial.id;
  return std::nullopt;
}

void add_keep(const schema::TuneRun& run, Finding& finding) {
  if (const auto* undecided = undecided_finalist(run)) {
    finding.title = messages::not_decided(trial_with(run, undecided->b));
    finding.evidence = messages::too_wide_to_tell(interval_of(*undecided->comparison));
    finding.advice = messages::repeat_fresh();
    return;
  }
  if (tried_others(run)) {
    finding.title = messages::keep(run.request.min_effect);
    // Not the verdict's reason, which says the title again.
    if (const auto* best = best_finalist(run))
      finding.evidence = messages::best_other({.close = !looks_slower(*best->comparison, run.request.min_effect),
                                               .trial = trial_with(run, best->b),
                                               .interval = interval_of(*best->comparison)});
    else if (!run.verdict->gain)
      finding.evidence = messages::none_came_near();
    return;
  }
  finding.title = messages::nothing_tried();
  finding.evidence = messages::only_current_measured();
  finding.advice = messages::search_longer();
}

void add_none(const schema::TuneVerdict& verdict, bool interrupted, Finding& finding) {
  if (verdict.trial_id != 0) {
    finding.title = messages::finalists_not_compared();
    finding.evidence = verdict.reason;
    if (interrupted) finding.advice = messages::continue_run();
    return;
  }
  finding.title = messages::no_trial_usable();
  finding.advice = messages::fix_first_failure();
}

schema::Message gain_title(const schema::TuneRun& run) {
  const auto& gain = run.verdict->gain;
  if (!gain) return messages::gain_not_compared(change_is(run));
  return messages::gain({.change = change_is(run),
                         .effect = effect_of(*gain),
                         .times = !is_too_wide(*gain) && gain->ratio >= kTimesFrom});
}

}  // namespace

std::vector<Finding> gain_rule(const Evidence& evidence) {
  const auto& run = evidence.run;
  if (!run.verdict) return {};
  Finding finding;
  finding.kind = FindingKind::gain;
  switch (run.verdict->decision) {
    case schema::Decision::change:
      finding.title = gain_title(run);
      finding.advice = messages::apply_it(run.id);
      break;
    case schema::Decision::keep: add_keep(run, finding); break;
    case schema::Decision::none: add_none(*run.verdict, run.interrupted, finding); break;
  }
  if (finding.evidence.empty()) finding.evidence = numbers_of(evidence);
  if (finding.evidence.empty()) finding.evidence = run.verdict->reason;
  return {finding};
}

}  // namespace ridgeline::analysis
