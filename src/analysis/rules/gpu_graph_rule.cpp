// SPDX-License-Identifier: Apache-2.0
// CUDA graphs that the runtime refused, with the nodes to blame where the trial named them.
#include <map>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

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
    std::vector<int> ids;
    bool has_override = false;
  };
  std::map<std::string, Refused> refused;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || !is_refused_graph(trial, at->second)) continue;
    auto& group = refused[at->second.failure->message];
    group.ids.push_back(trial.id);
    group.has_override = group.has_override || has(trial.configuration, kOverride);
  }
  std::vector<Finding> findings;
  for (const auto& [message, group] : refused) {
    std::string advice =
        "A CUDA graph needs every node on the GPU: change the model so that these nodes go, or do without";
    if (!group.has_override && !evidence.run.workload.dim_names.empty())
      advice = graph_ran_with_override(evidence)
                   ? "With override_free_dimensions=true the graph was captured: keep both or neither"
                   : "Try override_free_dimensions=true: fixed sizes take shape arithmetic off the CPU";
    findings.push_back(
        {FindingKind::failure, fmt::format("CUDA graph refused: {}", message), trials_text(group.ids), advice});
  }
  return findings;
}

}  // namespace ridgeline::analysis
