// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranking.hpp"

namespace ridgeline::analysis {

/// Sessions times the threads that run each.
[[nodiscard]] std::int64_t in_flight(const schema::Configuration& configuration);

/// One batch size with one number of sessions: the best trial by throughput, those that meet the constraints first, or
/// how the first failed when none ran.
struct LoadPoint {
  std::int64_t batch = 1;
  std::int64_t sessions = 1;  ///< in_flight
  const schema::TunedTrial* trial = nullptr;
  const schema::TrialOutcome* outcome = nullptr;
  const RankedTrial* ranked = nullptr;  ///< nullptr: every trial of this load failed
  std::optional<double> memory_gb;      ///< gpu_memory_gb
  bool best_of_load = true;             ///< false: it answers a question, and another trial is the best of its load
};

/// Throughput, latency and memory over the load. The answers are nullptr where the records hold none; of equal trials
/// the better ranked. A trial over a latency limit may answer all but within_limit, one that misses another constraint
/// nothing. Each answer is among the points.
struct LoadCurve {
  std::vector<LoadPoint> points;  ///< by sessions, then batch, the best of a load first
  std::vector<int> front;  ///< trial ids that meet the constraints: no such point has more throughput and less latency;
                           ///< by latency
  const RankedTrial* highest_throughput = nullptr;
  const RankedTrial* lowest_latency = nullptr;
  const RankedTrial* within_limit = nullptr;  ///< most throughput among those that keep the latency constraint
  const RankedTrial* per_gb = nullptr;        ///< most throughput a GB of GPU memory
  bool has_latency_limit = false;             ///< within_limit was asked for
};

/// Empty unless at least two batch sizes or two numbers of sessions were tried. `ranking` must outlive the result.
[[nodiscard]] LoadCurve load_curve(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                   const std::vector<RankedTrial>& ranking);

}  // namespace ridgeline::analysis
