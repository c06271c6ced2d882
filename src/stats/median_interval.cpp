// SPDX-License-Identifier: Apache-2.0
#include "stats/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ridgeline::stats {
namespace {

// Correlation so strong that the normal widening breaks down; sqrt((1+r)/(1-r)) is 4.4 there.
constexpr double kMaxCorrelation = 0.9;

/// Of the indicator "above the median", which alone decides the variance of a sample median.
double sign_correlation(std::span<const double> samples, double median) {
  double together = 0;
  double total = 0;
  double previous = 0;
  for (const double sample : samples) {
    const double sign = sample > median ? 1 : (sample < median ? -1 : 0);
    together += sign * previous;
    total += sign * sign;
    previous = sign;
  }
  return total > 0 ? std::clamp(together / total, 0.0, kMaxCorrelation) : 0;
}

}  // namespace

std::optional<Estimate> median_interval(std::span<const double> samples, std::vector<double>& scratch) {
  const auto count = static_cast<std::int64_t>(samples.size());
  if (count < kLeastForMedian) return std::nullopt;
  scratch.assign(samples.begin(), samples.end());
  const auto at = [&](std::int64_t rank, std::int64_t from) {  // rank from 1; earlier ranks are already in place
    const auto nth = scratch.begin() + (rank - 1);
    std::nth_element(scratch.begin() + from, nth, scratch.end());
    return *nth;
  };
  const auto middle = (count + 1) / 2;
  double median = at(middle, 0);
  if (count % 2 == 0) median = (median + *std::min_element(scratch.begin() + middle, scratch.end())) / 2;
  const double correlation = sign_correlation(samples, median);
  const double n = static_cast<double>(count);
  const double half_width = kNormal95 * std::sqrt(n * (1 + correlation) / (1 - correlation));
  const auto low_rank = static_cast<std::int64_t>(std::floor((n - half_width) / 2));
  if (low_rank < 1) return std::nullopt;
  // The lower part is partitioned below `middle`, so the low rank is searched in it alone.
  const auto low = scratch.begin() + (low_rank - 1);
  std::nth_element(scratch.begin(), low, scratch.begin() + middle);
  Estimate estimate{median, *low, 0};
  estimate.high = at(count + 1 - low_rank, middle);
  return estimate;
}

}  // namespace ridgeline::stats
