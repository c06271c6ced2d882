// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace ridgeline::analysis {
namespace {

/// Type 7 on sorted samples.
double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Half width of the 95 % interval of the mean over the mean, by batch means: long batches carry the correlation inside
/// them, so that their means are nearly independent. 30 batches are enough for the t quantile to have settled.
double relative_half_width(const std::vector<double>& samples) {
  const std::size_t batches = std::min<std::size_t>(30, samples.size());
  if (batches < 2) return 1;
  std::vector<double> means;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(batch * samples.size() / batches);
    const auto end = samples.begin() + static_cast<std::ptrdiff_t>((batch + 1) * samples.size() / batches);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  const auto count = static_cast<double>(batches);
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / count;
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t(count - 1), 0.5 + kConfidence / 2);
  return mean > 0 ? t * std::sqrt(squares / (count - 1) / count) / mean : 1;
}

struct Sorted {
  std::vector<double> samples;
  explicit Sorted(const schema::Measurement& measurement) : samples(measurement.latency_ns) {
    std::sort(samples.begin(), samples.end());
  }
};

Interval throughput_interval(const schema::Measurement& measurement, double throughput) {
  const double half = relative_half_width(measurement.latency_ns);
  // Below twice the throughput's reciprocal the upper limit is unbounded: one sample says nothing.
  return {throughput / (1 + half), throughput / std::max(1 - half, 0.5)};
}

}  // namespace

std::int64_t samples_needed(double q) noexcept {
  const double tail = std::min(q, 1 - q);
  // The small slack keeps 10 / (1 - 0.99), which is 1000.0000000000009 in binary, at 1000.
  return tail > 0 ? static_cast<std::int64_t>(std::ceil(10 / tail - 1e-6)) : INT64_MAX;
}

double supported_tail(std::int64_t count) noexcept {
  for (const double q : {0.99, 0.95, 0.9})
    if (count >= samples_needed(q)) return q;
  return 0.5;
}

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = samples.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(samples.begin(), below, samples.end());
  const double fraction = position - std::floor(position);
  if (fraction == 0) return *below;
  return *below + fraction * (*std::min_element(below + 1, samples.end()) - *below);
}

Interval quantile_interval(const std::vector<double>& sorted, double q, double confidence, double effective_share) {
  if (sorted.empty()) return {};
  const auto count = static_cast<double>(sorted.size());
  const double beyond = (1 - confidence) / 2;
  const boost::math::binomial below(count, q);
  // Rank r (from 1) is a lower limit when P(fewer than r samples below the quantile) <= beyond.
  double lower = 0;
  for (lower = std::floor(boost::math::quantile(below, beyond)) + 1; lower > 0; --lower)
    if (boost::math::cdf(below, lower - 1) <= beyond) break;
  double upper = std::floor(boost::math::quantile(below, 1 - beyond));
  while (upper < count && boost::math::cdf(below, upper) < 1 - beyond) ++upper;
  ++upper;
  if (effective_share < 1) {
    const double widening = 1 / std::sqrt(std::max(effective_share, 1 / count));
    const double centre = count * q;
    lower = std::floor(centre - (centre - lower) * widening);
    upper = std::ceil(centre + (upper - centre) * widening);
  }
  const auto at = [&](double rank) { return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1]; };
  return {at(lower), at(upper)};
}

double effective_share(const std::vector<double>& samples, double level) {
  const std::size_t count = samples.size();
  if (count < 8) return 1;
  std::vector<double> below(count);
  std::transform(samples.begin(), samples.end(), below.begin(),
                 [&](double value) { return value <= level ? 1.0 : 0.0; });
  const double mean = std::accumulate(below.begin(), below.end(), 0.0) / static_cast<double>(count);
  for (double& value : below) value -= mean;
  const auto covariance = [&](std::size_t lag) {
    return std::inner_product(below.begin() + static_cast<std::ptrdiff_t>(lag), below.end(), below.begin(), 0.0) /
           static_cast<double>(count);
  };
  const double variance = covariance(0);
  if (variance <= 0) return 1;
  // Beyond 200 lags the sum is cut: drift that slow is reported as "not steady" rather than repaired here.
  const std::size_t lags = std::min<std::size_t>(200, count / 4);
  double sum = 0;
  for (std::size_t lag = 1; lag + 1 <= lags; lag += 2) {
    const double pair = (covariance(lag) + covariance(lag + 1)) / variance;
    if (pair <= 0) break;
    sum += pair;
  }
  return 1 / (1 + 2 * sum);
}

Summary summarize(const schema::Measurement& measurement) {
  Summary summary;
  const auto& samples = measurement.latency_ns;
  summary.count = static_cast<std::int64_t>(samples.size());
  if (samples.empty()) return summary;
  const Sorted sorted(measurement);
  const auto count = static_cast<double>(samples.size());
  summary.mean_ns = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double value : samples) squares += (value - summary.mean_ns) * (value - summary.mean_ns);
  summary.stdev_ns = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  summary.min_ns = sorted.samples.front();
  summary.max_ns = sorted.samples.back();
  summary.median_ns = sorted_quantile(sorted.samples, 0.5);
  summary.median_interval_ns =
      quantile_interval(sorted.samples, 0.5, kConfidence, effective_share(samples, summary.median_ns));
  if (summary.count >= samples_needed(0.9)) summary.p90_ns = sorted_quantile(sorted.samples, 0.9);
  if (summary.count >= samples_needed(0.95)) summary.p95_ns = sorted_quantile(sorted.samples, 0.95);
  if (summary.count >= samples_needed(0.99)) {
    summary.p99_ns = sorted_quantile(sorted.samples, 0.99);
    summary.p99_interval_ns =
        quantile_interval(sorted.samples, 0.99, kConfidence, effective_share(samples, *summary.p99_ns));
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
      objective == schema::Objective::p99 ? supported_tail(static_cast<std::int64_t>(samples.size())) : 0.5;
  const double value = sorted_quantile(sorted.samples, q);
  return {value, quantile_interval(sorted.samples, q, kConfidence, effective_share(samples, value))};
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
