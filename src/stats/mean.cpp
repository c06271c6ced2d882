// SPDX-License-Identifier: Apache-2.0
#include "stats/mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace ridgeline::stats {
namespace {

double sum_of_squares(std::span<const double> samples) {
  const double middle = mean(samples);
  double squares = 0;
  for (const double value : samples) squares += (value - middle) * (value - middle);
  return squares;
}

}  // namespace

double mean(std::span<const double> samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double variance(std::span<const double> samples) {
  return samples.size() < 2 ? 0 : sum_of_squares(samples) / static_cast<double>(samples.size() - 1);
}

double student_half_width(double freedom, double confidence) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.5 + confidence / 2);
}

double mean_half_width(std::span<const double> samples, int estimated) {
  const auto count = static_cast<double>(samples.size());
  const double freedom = count - estimated;
  if (freedom < 1) return std::numeric_limits<double>::infinity();
  return student_half_width(freedom) * std::sqrt(sum_of_squares(samples) / freedom / count);
}

std::vector<double> batch_means(std::span<const double> samples, std::size_t batches) {
  batches = std::min(batches, samples.size());
  std::vector<double> means;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const auto begin = batch * samples.size() / batches;
    means.push_back(mean(samples.subspan(begin, (batch + 1) * samples.size() / batches - begin)));
  }
  return means;
}

std::optional<Estimate> batch_mean(std::span<const double> samples, std::size_t batches) {
  const auto means = batch_means(samples, batches);
  if (means.size() < 2) return std::nullopt;
  const double middle = mean(means);
  const double half = mean_half_width(means);
  return Estimate{middle, middle - half, middle + half};
}

}  // namespace ridgeline::stats
