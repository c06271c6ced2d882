// SPDX-License-Identifier: Apache-2.0
// CUDA graphs that the runtime refused, with the nodes to blame where the trial named them.
#include <map>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

/// How the ONNX workload begins the message of a refused graph.
constexpr std::string_view kLead = "enable_cuda_graph=true: ";
constexpr std::string_view kOverride = "override_free_dimensions";

bool graph_ran_with_override(const Evidence& evidence) {
  for (const auto& ranked : evidence.ranking)
    if (ranked.trial->configuration.get_or("enable_cuda_graph", false).as_bool() &&
        ranked.trial->configuration.get_or(std::string(kOverride), false).as_bool())
      return true;
  return false;
}

}  // namespace

bool is_refused_graph(const schema::TrialOutcome& outcome) {
  return outcome.failure && outcome.failure->message.rfind(kLead, 0) == 0;
}

std::vector<Finding> gpu_graph_rule(const Evidence& evidence) {
  std::map<std::string, std::vector<int>> refused;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at != evidence.outcomes.end() && is_refused_graph(at->second))
      refused[at->second.failure->message.substr(kLead.size())].push_back(trial.id);
  }
  std::vector<Finding> findings;
  for (const auto& [message, ids] : refused) {
    const auto reason = message.substr(0, message.find(';'));
    std::string advice =
        "A CUDA graph needs every node on the GPU: change the model so that these nodes go, or do without";
    if (message.find(kOverride) != std::string::npos)
      advice = graph_ran_with_override(evidence)
                   ? "With override_free_dimensions=true the graph was captured: keep both or neither"
                   : "Try override_free_dimensions=true: fixed sizes take shape arithmetic off the CPU";
    findings.push_back(
        {FindingKind::failure, fmt::format("CUDA graph refused because {}", reason), trials_text(ids), advice});
  }
  return findings;
}

}  // namespace ridgeline::analysis
