// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings.hpp"

#include <algorithm>

#include "analysis/machine_speed.hpp"
#include "analysis/messages.hpp"
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

/// One finding of all that say that the machine was not quiet, in the place of the first: the one of how uneven it was
/// leads, as that has been measured for the whole run.
void merge_unrest(std::vector<Finding>& findings) {
  std::vector<Finding> unrest;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(unrest),
               [](const auto& finding) { return finding.of_unrest; });
  if (unrest.size() < 2) return;
  std::stable_partition(unrest.begin(), unrest.end(),
                        [](const auto& finding) { return finding.title.is("analysis.uneven"); });
  auto merged = unrest.front();
  std::vector<schema::Message> others;
  for (std::size_t i = 1; i < unrest.size(); ++i) others.push_back(std::move(unrest[i].title));
  merged.evidence = messages::with_unrest({.evidence = merged.evidence, .others = std::move(others)});
  bool placed = false;
  std::erase_if(findings, [&](auto& finding) {
    if (!finding.of_unrest || placed) return finding.of_unrest;
    placed = true;
    finding = merged;
    return false;
  });
}

}  // namespace

std::vector<Finding> find_all(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  Evidence evidence{run, outcomes, rank(run, outcomes)};
  evidence.reference = find_configuration(evidence.ranking, run.current);
  if (evidence.reference == nullptr) evidence.reference = find_configuration(evidence.ranking, {});
  evidence.chosen = find_chosen(run, evidence.ranking);
  evidence.uneven = was_uneven(run);
  std::vector<Finding> findings;
  for (const auto rule : kRules) {
    auto found = rule(evidence);
    findings.insert(findings.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  merge_unrest(findings);
  return findings;
}

}  // namespace ridgeline::analysis
