// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schema/measurement.hpp"
#include "schema/objective.hpp"
#include "stats/interval.hpp"

namespace ridgeline::analysis {

/// Statistics of one trial's samples. Percentiles that the sample count cannot support are absent.
struct Summary {
  std::int64_t count = 0;
  double mean_ns = 0;
  double stdev_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  double median_ns = 0;
  stats::Interval median_interval_ns;  ///< 95 %
  std::optional<double> p90_ns;
  std::optional<double> p95_ns;
  std::optional<double> p99_ns;
  std::optional<stats::Interval> p99_interval_ns;
  double throughput_per_s = 0;
  stats::Interval throughput_interval_per_s;  ///< 95 %
};

/// Needs at least one sample; without one every number is 0. Throughput is counted over the timed window that all
/// callers share (Measurement::wall_ns), not as the reciprocal of a latency; its interval comes from batch means (Law,
/// Simulation Modeling and Analysis, 5th ed., section 9.5.3) of the time-ordered latencies.
[[nodiscard]] Summary summarize(const schema::Measurement& measurement);

/// The objective as a cost, lower is better: median ns, p99 ns, or ns an item. p99 with too few samples uses the
/// largest supported percentile; the second is its 95 % interval.
struct Cost {
  double value = 0;
  stats::Interval interval;
};
[[nodiscard]] Cost cost_of(const schema::Measurement& measurement, schema::Objective objective);

/// The value of a MetricDef key, in its unit; nullopt when the samples do not support it.
[[nodiscard]] std::optional<double> metric_value(const schema::Measurement& measurement, const Summary& summary,
                                                 std::string_view metric);

}  // namespace ridgeline::analysis
