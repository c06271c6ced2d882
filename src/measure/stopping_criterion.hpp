// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"
#include "stats/interval.hpp"

namespace ridgeline::measure {

/// Decides between rounds of samples whether enough were taken. Lives in measure and not in analysis, because a worker
/// times without judging: its rule may change without touching how records are interpreted, and layers forbid the edge.
class StoppingCriterion {
 public:
  struct Options {
    schema::MeasurementPlan plan;
    int concurrency = 1;
    double items_per_inference = 1;
    std::optional<double> stop_above_ns;  ///< cost above which the trial is a clear loser
    bool throughput = false;              ///< that cost is ns an item instead of the median latency
    double expected_latency_ns = 0;       ///< from warm-up, places the first look; 0: unknown
  };
  explicit StoppingCriterion(const Options& options);

  /// Most inferences per caller before the next look, at least 1. Looks are spaced geometrically: their cost stays a
  /// small share, and few looks mean few chances to stop on a lucky streak.
  [[nodiscard]] std::int64_t next_round(std::int64_t done_per_caller) const noexcept;

  /// The budget left for the timed window, in seconds; nullopt with a fixed number of runs.
  [[nodiscard]] std::optional<double> time_left_s(double elapsed_s) const noexcept;

  /// nullopt: go on. `samples` of all callers in order of completion.
  [[nodiscard]] std::optional<schema::StopReason> decide(std::span<const double> samples, std::int64_t done_per_caller,
                                                         double elapsed_s);

  /// The interval at the last look that computed one.
  [[nodiscard]] const std::optional<stats::Estimate>& interval() const noexcept { return interval_; }

 private:
  [[nodiscard]] bool clearly_lost(std::span<const double> samples) const;

  Options options_;
  std::int64_t run_limit_ = 0;  ///< a caller
  std::vector<double> scratch_;
  std::optional<stats::Estimate> interval_;
};

}  // namespace ridgeline::measure
