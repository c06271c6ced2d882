// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/findings.hpp"
#include "analysis/messages.hpp"

namespace ridgeline::analysis {

/// What every rule sees: the records, and the judgements that several rules need.
struct Evidence {
  const schema::TuneRun& run;
  const OutcomesByKey& outcomes;
  std::vector<RankedTrial> ranking;
  const RankedTrial* reference =
      nullptr;                          ///< the current configuration's trial, else the defaults'; nullptr: neither ran
  const RankedTrial* chosen = nullptr;  ///< the recommended trial, else the best; nullptr: nothing ran to the end
  bool uneven = false;                  ///< was_uneven: trials of different moments are no evidence against each other
  /// Whether `chosen` is the best trial only, as nothing is recommended.
  [[nodiscard]] bool chosen_is_best() const { return !run.verdict || run.verdict->decision == schema::Decision::none; }
};

/// A rule reads the evidence and says what it has to say; nothing is a legal answer.
using Rule = std::vector<Finding> (*)(const Evidence& evidence);

// One rule a file, rules/<name>.cpp. Registered in findings.cpp.
[[nodiscard]] std::vector<Finding> gain_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> contribution_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> single_setting_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> thread_scaling_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> oversubscription_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> arithmetic_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_bound_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_energy_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_memory_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_clock_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_neighbour_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> gpu_graph_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> one_stream_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> spikes_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> ineffective_setting_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> quality_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> uneven_machine_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> machine_rule(const Evidence& evidence);
[[nodiscard]] std::vector<Finding> failure_rule(const Evidence& evidence);

/// A trial that failed because the runtime refused its CUDA graph; gpu_graph_rule's.
[[nodiscard]] bool is_refused_graph(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome);

}  // namespace ridgeline::analysis
