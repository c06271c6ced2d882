// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/measurement.hpp"
#include "schema/objective.hpp"

namespace ridgeline::analysis {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Statistics of one trial's samples. Percentiles that the sample count cannot support are absent.
struct Summary {
  std::int64_t count = 0;
  double mean_ns = 0;
  double stdev_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  double median_ns = 0;
  Interval median_interval_ns;         ///< 95 %
  std::optional<double> p90_ns;
  std::optional<double> p95_ns;
  std::optional<double> p99_ns;
  std::optional<Interval> p99_interval_ns;
  double throughput_per_s = 0;
  Interval throughput_interval_per_s;  ///< 95 %
};

/// Needs at least one sample.
[[nodiscard]] Summary summarize(const schema::Measurement& measurement);

/// Fewest samples from which quantile q is printed: 10 samples beyond it (q=0.99: 1000; 0.9: 100).
[[nodiscard]] std::int64_t samples_needed(double q) noexcept;

/// Linear-interpolated quantile (Hyndman-Fan type 7) of unsorted samples. O(n).
[[nodiscard]] double quantile(std::vector<double> samples, double q);

/// Distribution-free interval of a quantile by order statistics (binomial), widened by the samples' lag-1
/// autocorrelation. Sorted input.
[[nodiscard]] Interval quantile_interval(const std::vector<double>& sorted, double q, double confidence,
                                         double effective_share = 1);

/// The objective as a cost, lower is better: median ns, p99 ns, or ns an item. p99 with too few samples uses the
/// largest supported percentile; the second is its 95 % interval.
struct Cost {
  double value = 0;
  Interval interval;
};
[[nodiscard]] Cost cost_of(const schema::Measurement& measurement, schema::Objective objective);

/// The value of a MetricDef key, in its unit; nullopt when the samples do not support it.
[[nodiscard]] std::optional<double> metric_value(const schema::Measurement& measurement, const Summary& summary,
                                                 std::string_view metric);

}  // namespace ridgeline::analysis
