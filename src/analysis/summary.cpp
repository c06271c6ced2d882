// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary.hpp"

#include <algorithm>
#include <cmath>

#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

constexpr std::size_t kBatches = 30;  // enough for the t quantile to have settled

struct Sorted {
  std::vector<double> samples;
  explicit Sorted(const schema::Measurement& measurement) : samples(measurement.latency_ns) {
    std::sort(samples.begin(), samples.end());
  }
};

stats::Interval throughput_interval(const schema::Measurement& measurement, double throughput) {
  const auto means = stats::batch_means(measurement.latency_ns, kBatches);
  const double mean = stats::mean(means);
  const double half = means.size() > 1 && mean > 0 ? stats::mean_half_width(means) / mean : 1;
  // Below twice the throughput's reciprocal the upper limit is unbounded: one sample says nothing.
  return {throughput / (1 + half), throughput / std::max(1 - half, 0.5)};
}

}  // namespace

Summary summarize(const schema::Measurement& measurement) {
  Summary summary;
  const auto& samples = measurement.latency_ns;
  summary.count = static_cast<std::int64_t>(samples.size());
  if (samples.empty()) return summary;
  const Sorted sorted(measurement);
  summary.mean_ns = stats::mean(samples);
  summary.stdev_ns = std::sqrt(stats::variance(samples));
  summary.min_ns = sorted.samples.front();
  summary.max_ns = sorted.samples.back();
  summary.median_ns = stats::sorted_quantile(sorted.samples, 0.5);
  summary.median_interval_ns = stats::quantile_interval(sorted.samples, 0.5, stats::kConfidence,
                                                        stats::effective_share(samples, summary.median_ns));
  if (summary.count >= stats::samples_needed(0.9)) summary.p90_ns = stats::sorted_quantile(sorted.samples, 0.9);
  if (summary.count >= stats::samples_needed(0.95)) summary.p95_ns = stats::sorted_quantile(sorted.samples, 0.95);
  if (summary.count >= stats::samples_needed(0.99)) {
    summary.p99_ns = stats::sorted_quantile(sorted.samples, 0.99);
    summary.p99_interval_ns = stats::quantile_interval(sorted.samples, 0.99, stats::kConfidence,
                                                       stats::effective_share(samples, *summary.p99_ns));
  }
  summary.throughput_per_s = measurement.throughput_per_s();
  summary.throughput_interval_per_s = throughput_interval(measurement, summary.throughput_per_s);
  return summary;
}

Cost cost_of(const schema::Measurement& measurement, schema::Objective objective) {
  const auto& samples = measurement.latency_ns;
  if (samples.empty()) return {};
  if (objective == schema::Objective::throughput) {
    const double throughput = measurement.throughput_per_s();
    if (throughput <= 0) return {};
    const auto interval = throughput_interval(measurement, throughput);
    return {1e9 / throughput, {1e9 / interval.high, 1e9 / interval.low}};
  }
  const Sorted sorted(measurement);
  const double q =
      objective == schema::Objective::p99 ? stats::supported_tail(static_cast<std::int64_t>(samples.size())) : 0.5;
  const double value = stats::sorted_quantile(sorted.samples, q);
  return {value,
          stats::quantile_interval(sorted.samples, q, stats::kConfidence, stats::effective_share(samples, value))};
}

std::optional<double> metric_value(const schema::Measurement& measurement, const Summary& summary,
                                   std::string_view metric) {
  const auto ms = [](std::optional<double> ns) { return ns ? std::optional(*ns * 1e-6) : std::nullopt; };
  const auto known = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  if (metric == "session_create_ms") return ms(known(measurement.session_create_ns));
  if (metric == "first_run_ms") return ms(known(measurement.first_run_ns));
  if (metric == "peak_rss_mb") return known(static_cast<double>(measurement.peak_rss_bytes) * 1e-6);
  if (const auto own = measurement.metrics.find(std::string(metric)); own != measurement.metrics.end())
    return own->second;
  if (measurement.gpu && metric == "gpu_energy_mj_per_item") return measurement.gpu->energy_mj_per_item;
  if (measurement.gpu && metric == "gpu_memory_gb")
    if (const auto peak = measurement.gpu->peak_bytes()) return static_cast<double>(*peak) * 1e-9;
  if (summary.count == 0) return std::nullopt;
  if (metric == "latency_median_ms" || metric == "latency_p50_ms") return ms(summary.median_ns);
  if (metric == "latency_mean_ms") return ms(summary.mean_ns);
  if (metric == "latency_p90_ms") return ms(summary.p90_ns);
  if (metric == "latency_p95_ms") return ms(summary.p95_ns);
  if (metric == "latency_p99_ms") return ms(summary.p99_ns);
  if (metric == "throughput_per_s") return known(summary.throughput_per_s);
  return std::nullopt;
}

}  // namespace ridgeline::analysis
