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

/// The standard error of a difference of means, and its freedom by Satterthwaite.
struct WelchError {
  double deviation = 0;
  double freedom = 0;
};

WelchError welch_error(std::span<const double> a, std::span<const double> b) {
  const double error_a = variance(a) / static_cast<double>(a.size());
  const double error_b = variance(b) / static_cast<double>(b.size());
  const double error = error_a + error_b;
  if (error <= 0) return {};
  return {std::sqrt(error), error * error /
                                (error_a * error_a / static_cast<double>(a.size() - 1) +
                                 error_b * error_b / static_cast<double>(b.size() - 1))};
}

}  // namespace

std::optional<SampleRatio> welch_ratio(std::span<const double> a, std::span<const double> b, double confidence,
                                       std::size_t least) {
  const auto log_a = logarithms(a);
  const auto log_b = logarithms(b);
  if (std::min(log_a.size(), log_b.size()) < std::max<std::size_t>(2, least)) return std::nullopt;
  const double difference = mean(log_b) - mean(log_a);
  const auto error = welch_error(log_a, log_b);
  if (error.deviation <= 0)  // values of a clock that is coarser than they differ, or none that differ
    return SampleRatio{std::exp(difference), std::exp(difference), std::exp(difference), difference == 0 ? 1.0 : 0.0};
  const double half = student_half_width(error.freedom, confidence) * error.deviation;
  const double p =
      2 * boost::math::cdf(boost::math::students_t(error.freedom), -std::abs(difference) / error.deviation);
  return SampleRatio{std::exp(difference), std::exp(difference - half), std::exp(difference + half), p};
}

std::optional<Estimate> welch_difference(std::span<const double> a, std::span<const double> b) {
  if (std::min(a.size(), b.size()) < 2) return std::nullopt;
  const double difference = mean(b) - mean(a);
  const auto error = welch_error(a, b);
  const double half = error.deviation > 0 ? student_half_width(error.freedom) * error.deviation : 0;
  return Estimate{difference, difference - half, difference + half};
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
