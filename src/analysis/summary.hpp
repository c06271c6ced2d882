// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schema/measurement.hpp"
#include "schema/objective.hpp"

namespace ridgeline::analysis {

inline constexpr double kConfidence = 0.95;  ///< of every interval

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
  Interval median_interval_ns;  ///< 95 %
  std::optional<double> p90_ns;
  std::optional<double> p95_ns;
  std::optional<double> p99_ns;
  std::optional<Interval> p99_interval_ns;
  double throughput_per_s = 0;
  Interval throughput_interval_per_s;  ///< 95 %
};

/// Needs at least one sample; without one every number is 0. Throughput is counted over the timed window that all lanes
/// share (Measurement::wall_ns), not as the reciprocal of a latency; its interval comes from batch means (Law,
/// Simulation Modeling and Analysis, 5th ed., section 9.5.3) of the time-ordered latencies.
[[nodiscard]] Summary summarize(const schema::Measurement& measurement);

/// Fewest samples from which quantile q is printed: 10 samples beyond it (q=0.99: 1000; 0.9: 100).
[[nodiscard]] std::int64_t samples_needed(double q) noexcept;

/// The largest of 0.99, 0.95, 0.9 and 0.5 that `count` samples support; 0.5 when they support none.
[[nodiscard]] double supported_tail(std::int64_t count) noexcept;

/// Linear-interpolated quantile (Hyndman and Fan 1996, type 7) of unsorted samples, q in 0..1. O(n). 0 without samples.
[[nodiscard]] double quantile(std::vector<double> samples, double q);

/// Distribution-free interval of a quantile: the order statistics whose ranks enclose the central `confidence` share of
/// a binomial(n, q) (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). Sorted input. Too few samples
/// for that confidence give the smallest or largest sample as a limit. Correlated samples count as n * effective_share:
/// the limits move outwards by 1/sqrt(effective_share).
[[nodiscard]] Interval quantile_interval(const std::vector<double>& sorted, double q, double confidence,
                                         double effective_share = 1);

/// Share of the time-ordered samples that count as independent for the position of `level`: 1 / (1 + 2 * sum of the
/// autocorrelations of "sample <= level"), summed up to Geyer's initial positive sequence (Statistical Science 7,
/// 1992). In (0, 1]. A spike therefore weighs no more than any other sample.
[[nodiscard]] double effective_share(const std::vector<double>& samples, double level);

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
