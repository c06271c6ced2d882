// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "stats/quantile.hpp"
#include "unit/stats/samples.hpp"

namespace ridgeline::analysis {
namespace {

schema::Measurement of(std::vector<double> samples, int concurrency = 1) {
  schema::Measurement measurement;
  measurement.wall_ns = std::accumulate(samples.begin(), samples.end(), 0.0) / concurrency;
  measurement.concurrency = concurrency;
  measurement.latency_ns = std::move(samples);
  return measurement;
}

TEST(QuantileInterval, still_covers_when_samples_are_correlated) {
  int covered = 0;
  int covered_without_widening = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const auto samples = stats::correlated_samples(1000, 5000 + static_cast<std::uint64_t>(round), 0.8, 100);
    const auto interval = summarize(of(samples)).median_interval_ns;
    covered += interval.low <= 100 && 100 <= interval.high ? 1 : 0;
    auto sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const auto narrow = stats::quantile_interval(sorted, 0.5, 0.95);
    covered_without_widening += narrow.low <= 100 && 100 <= narrow.high ? 1 : 0;
  }
  EXPECT_GE(covered, static_cast<int>(kRounds * 0.90));
  EXPECT_LT(covered_without_widening, static_cast<int>(kRounds * 0.75));
}

TEST(Summary, reports_the_moments_and_withholds_unsupported_percentiles) {
  const auto summary = summarize(of({1, 2, 3, 4}));
  EXPECT_EQ(summary.count, 4);
  EXPECT_DOUBLE_EQ(summary.mean_ns, 2.5);
  EXPECT_NEAR(summary.stdev_ns, 1.2909944487, 1e-9);
  EXPECT_DOUBLE_EQ(summary.median_ns, 2.5);
  EXPECT_DOUBLE_EQ(summary.min_ns, 1);
  EXPECT_DOUBLE_EQ(summary.max_ns, 4);
  EXPECT_FALSE(summary.p90_ns.has_value());
  EXPECT_FALSE(summary.p99_ns.has_value());
  const auto many = summarize(of(stats::normal_samples(1000, 9)));
  ASSERT_TRUE(many.p99_ns.has_value());
  EXPECT_NEAR(*many.p99_ns, 1116, 20);
  EXPECT_LE(many.p99_interval_ns->low, *many.p99_ns);
  EXPECT_GE(many.p99_interval_ns->high, *many.p99_ns);
}

TEST(Summary, counts_throughput_over_the_window_that_the_callers_share) {
  auto measurement = of(std::vector<double>(2000, 1e6), 4);
  measurement.items_per_inference = 8;
  const auto summary = summarize(measurement);
  EXPECT_DOUBLE_EQ(summary.throughput_per_s, 4 * 8 * 1000);
  EXPECT_DOUBLE_EQ(summary.throughput_interval_per_s.low, summary.throughput_per_s);
  const auto noisy = summarize(of(stats::normal_samples(2000, 4), 4));
  EXPECT_LT(noisy.throughput_interval_per_s.low, noisy.throughput_per_s);
  EXPECT_GT(noisy.throughput_interval_per_s.high, noisy.throughput_per_s);
  EXPECT_NEAR(noisy.throughput_interval_per_s.high / noisy.throughput_per_s, 1.002, 0.002);
}

TEST(Summary, of_nothing_is_all_zero) {
  const auto summary = summarize({});
  EXPECT_EQ(summary.count, 0);
  EXPECT_DOUBLE_EQ(summary.median_ns, 0);
  EXPECT_DOUBLE_EQ(cost_of({}, schema::Objective::latency).value, 0);
}

TEST(Cost, turns_every_objective_into_lower_is_better) {
  auto measurement = of(stats::normal_samples(1000, 11), 2);
  measurement.items_per_inference = 4;
  const auto summary = summarize(measurement);
  EXPECT_DOUBLE_EQ(cost_of(measurement, schema::Objective::latency).value, summary.median_ns);
  EXPECT_DOUBLE_EQ(cost_of(measurement, schema::Objective::p99).value, *summary.p99_ns);
  const auto item = cost_of(measurement, schema::Objective::throughput);
  EXPECT_NEAR(item.value, 1e9 / summary.throughput_per_s, 1e-6);
  EXPECT_LT(item.interval.low, item.value);
  EXPECT_GT(item.interval.high, item.value);
}

TEST(Cost, falls_back_to_the_largest_supported_percentile) {
  const auto samples = stats::normal_samples(300, 12);
  EXPECT_DOUBLE_EQ(cost_of(of(samples), schema::Objective::p99).value, stats::quantile(samples, 0.95));
  EXPECT_DOUBLE_EQ(cost_of(of({1, 2, 9}), schema::Objective::p99).value, 2);
}

TEST(MetricValue, answers_every_key_in_its_unit) {
  auto measurement = of(std::vector<double>(1000, 2e6));
  measurement.session_create_ns = 5e6;
  measurement.first_run_ns = 7e6;
  measurement.peak_rss_bytes = 3'000'000;
  measurement.metrics["gpu_memory_mb"] = 12;
  const auto summary = summarize(measurement);
  const auto value = [&](std::string_view key) { return metric_value(measurement, summary, key).value_or(-1); };
  for (const auto* key :
       {"latency_median_ms", "latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p95_ms", "latency_p99_ms"})
    EXPECT_NEAR(value(key), 2, 1e-9) << key;
  EXPECT_NEAR(value("throughput_per_s"), 500, 1e-9);
  EXPECT_NEAR(value("session_create_ms"), 5, 1e-9);
  EXPECT_NEAR(value("first_run_ms"), 7, 1e-9);
  EXPECT_NEAR(value("peak_rss_mb"), 3, 1e-9);
  EXPECT_NEAR(value("gpu_memory_mb"), 12, 1e-9);
  EXPECT_FALSE(metric_value(measurement, summary, "no_such_metric").has_value());
}

TEST(MetricValue, is_absent_when_the_samples_do_not_support_it) {
  const auto measurement = of({1, 2, 3});
  const auto summary = summarize(measurement);
  EXPECT_FALSE(metric_value(measurement, summary, "latency_p99_ms").has_value());
  EXPECT_FALSE(metric_value(measurement, summary, "peak_rss_mb").has_value());
  EXPECT_TRUE(metric_value(measurement, summary, "latency_median_ms").has_value());
}

}  // namespace
}  // namespace ridgeline::analysis
