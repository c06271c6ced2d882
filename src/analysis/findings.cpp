// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings.hpp"

#include <algorithm>

#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

/// In the order in which a reader should meet them.
constexpr Rule kRules[] = {
    gain_rule,           contribution_rule, single_setting_rule, thread_scaling_rule, oversubscription_rule,
    arithmetic_rule,     one_stream_rule,   gpu_bound_rule,      gpu_energy_rule,     gpu_memory_rule,
    spikes_rule,         quality_rule,      gpu_clock_rule,      gpu_neighbour_rule,  ineffective_setting_rule,
    uneven_machine_rule, machine_rule,      gpu_graph_rule,      failure_rule,
};

const RankedTrial* find_configuration(const std::vector<RankedTrial>& ranking, const schema::Configuration& wanted) {
  for (const auto& ranked : ranking)
    if (ranked.trial->configuration == wanted) return &ranked;
  return nullptr;
}

const RankedTrial* find_chosen(const schema::TuneRun& run, const std::vector<RankedTrial>& ranking) {
  if (run.verdict) {
    for (const auto& ranked : ranking)
      if (ranked.trial->id == run.verdict->trial_id) return &ranked;
    if (const auto* same = find_configuration(ranking, run.verdict->configuration)) return same;
  }
  return ranking.empty() ? nullptr : &ranking.front();
}

}  // namespace

std::vector<Finding> find_all(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  Evidence evidence{run, outcomes, rank(run, outcomes)};
  evidence.reference = find_configuration(evidence.ranking, run.current);
  if (evidence.reference == nullptr) evidence.reference = find_configuration(evidence.ranking, {});
  evidence.chosen = find_chosen(run, evidence.ranking);
  std::vector<Finding> findings;
  for (const auto rule : kRules) {
    auto found = rule(evidence);
    findings.insert(findings.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return findings;
}

}  // namespace ridgeline::analysis
