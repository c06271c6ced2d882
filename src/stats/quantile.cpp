// SPDX-License-Identifier: Apache-2.0
#include "stats/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>

namespace ridgeline::stats {

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = samples.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(samples.begin(), below, samples.end());
  const double fraction = position - std::floor(position);
  if (fraction == 0) return *below;
  return *below + fraction * (*std::min_element(below + 1, samples.end()) - *below);
}

double sorted_quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

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

Interval quantile_interval(std::span<const double> sorted, double q, double confidence, double effective_share) {
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

double effective_share(std::span<const double> samples, double level) {
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

}  // namespace ridgeline::stats
