// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

using OutcomesByKey = std::map<std::string, schema::TrialOutcome>;
using PairsByKey = std::map<std::string, schema::PairedOutcome>;

/// One line of the ranking table.
struct RankedTrial {
  const schema::TunedTrial* trial = nullptr;
  const schema::TrialOutcome* outcome = nullptr;
  Summary summary;
  Cost cost;
  int tie_group = 0;              ///< 1 = indistinguishable from the best
  bool meets_constraints = true;
  std::string broken_constraint;  ///< "latency_p99_ms 23.1 > 20", or ""
};

/// Trials that ran to the end, best first, constraint breakers last. Abandoned ones are listed after full ones of the
/// same tie group. A tie group: intervals that overlap the group leader's within min_effect.
[[nodiscard]] std::vector<RankedTrial> rank(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// Among equals: closest to the current configuration, then fewest settings, then least memory.
[[nodiscard]] const RankedTrial* simplest_of_best(const std::vector<RankedTrial>& ranking, const schema::Configuration& current);

/// Trial ids on the throughput (higher) / latency (lower) front.
[[nodiscard]] std::vector<int> pareto_front(const std::vector<RankedTrial>& ranking);

/// "out of tolerance: scaled error 3.1e-2 in output \"x\", allowed 1e-3", or nullopt when accepted.
[[nodiscard]] std::optional<std::string> accuracy_fault(const schema::AccuracyDrift& drift, double tolerance);

/// Tolerance on scaled_max_abs: by the outputs' element type (float 1e-3, float16 1e-2, bfloat16 5e-2, double 1e-6,
/// integers 0 but for a share of argmax-like flips) and at least ten times the model's own run-to-run noise.
[[nodiscard]] double default_tolerance(const schema::ModelDescription& model, double noise);

}  // namespace ridgeline::analysis
