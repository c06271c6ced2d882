// SPDX-License-Identifier: Apache-2.0
#include "stats/two_samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "stats/mean.hpp"

namespace ridgeline::stats {
namespace {

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> out;
  for (const double value : values)
    if (value > 0 && std::isfinite(value)) out.push_back(std::log(value));
  return out;
}

}  // namespace

std::optional<SampleRatio> welch_ratio(std::span<const double> a, std::span<const double> b, double confidence,
                                       std::size_t least) {
  const auto log_a = logarithms(a);
  const auto log_b = logarithms(b);
  if (std::min(log_a.size(), log_b.size()) < std::max<std::size_t>(2, least)) return std::nullopt;
  const double difference = mean(log_b) - mean(log_a);
  const double error_a = variance(log_a) / static_cast<double>(log_a.size());
  const double error_b = variance(log_b) / static_cast<double>(log_b.size());
  const double error = error_a + error_b;
  if (error <= 0)  // values of a clock that is coarser than they differ, or none that differ
    return SampleRatio{std::exp(difference), std::exp(difference), std::exp(difference), difference == 0 ? 1.0 : 0.0};
  const double freedom = error * error /
                         (error_a * error_a / static_cast<double>(log_a.size() - 1) +
                          error_b * error_b / static_cast<double>(log_b.size() - 1));
  const double deviation = std::sqrt(error);
  const double half = student_half_width(freedom, confidence) * deviation;
  const double p = 2 * boost::math::cdf(boost::math::students_t(freedom), -std::abs(difference) / deviation);
  return SampleRatio{std::exp(difference), std::exp(difference - half), std::exp(difference + half), p};
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p_values[a] < p_values[b]; });
  std::vector<double> out(p_values.size());
  double reached = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    reached = std::max(reached, std::min(1.0, p_values[order[i]] * static_cast<double>(order.size() - i)));
    out[order[i]] = reached;
  }
  return out;
}

}  // namespace ridgeline::stats
