// SPDX-License-Identifier: Apache-2.0
// CUDA graphs that the runtime refused, with the nodes to blame where the trial named them.
#include <map>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

constexpr std::string_view kOverride = "override_free_dimensions";

bool has(const schema::Configuration& configuration, std::string_view key) {
  return configuration.get_or(std::string(key), false).as_bool();
}

bool graph_ran_with_override(const Evidence& evidence) {
  for (const auto& ranked : evidence.ranking)
    if (has(ranked.trial->configuration, "enable_cuda_graph") && has(ranked.trial->configuration, kOverride))
      return true;
  return false;
}

}  // namespace

bool is_refused_graph(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) {
  return outcome.status == schema::TrialStatus::unsupported && outcome.failure &&
         outcome.failure->phase == schema::TrialPhase::create_session && has(trial.configuration, "enable_cuda_graph");
}

std::vector<Finding> gpu_graph_rule(const Evidence& evidence) {
  struct Refused {
    schema::Message why;
    std::vector<int> ids;
    bool has_override = false;
  };
  std::map<std::string, Refused> refused;  // by the words of the runtime
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || !is_refused_graph(trial, at->second)) continue;
    const auto& why = at->second.failure->message;
    auto& group = refused[base::dump_json(base::Json(why))];
    group.why = why;
    group.ids.push_back(trial.id);
    group.has_override = group.has_override || has(trial.configuration, kOverride);
  }
  std::vector<Finding> findings;
  for (const auto& [words, group] : refused) {
    auto advice = messages::nodes_off_cpu();
    if (!group.has_override && !evidence.run.workload.dim_names.empty())
      advice = graph_ran_with_override(evidence) ? messages::keep_both() : messages::try_fixed_sizes();
    findings.push_back(
        {FindingKind::failure, messages::graph_refused(group.why), messages::only_trials(group.ids), advice});
  }
  return findings;
}

}  // namespace ridgeline::analysis
