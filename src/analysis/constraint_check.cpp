// SPDX-License-Identifier: Apache-2.0
#include "analysis/constraint_check.hpp"
#include "analysis/messages.hpp"
#include "stats/quantile.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/binomial.hpp>

namespace ridgeline::analysis {
namespace {

constexpr double kDoubt = 0.05;
constexpr std::int64_t kMostWanted =
    300;  ///< 299 of p99 with none beyond are decided; the 1000 of p99 itself take long

std::optional<double> percentile_of(std::string_view metric) {
  if (metric == "latency_p90_ms") return 0.9;
  if (metric == "latency_p95_ms") return 0.95;
  if (metric == "latency_p99_ms") return 0.99;
  return std::nullopt;
}

/// "At most bound" for stats::quantile q from the number of samples beyond the bound: met when so few would be unlikely
/// if the true share beyond were 1 - q, broken when so many would be (mlcommons/inference loadgen, early stopping).
std::optional<schema::Message> binomial_check(const schema::Constraint& constraint, double q,
                                              const std::vector<double>& samples_ns) {
  const double bound_ns = constraint.bound * 1e6;
  const auto beyond =
      std::count_if(samples_ns.begin(), samples_ns.end(), [&](double value) { return value > bound_ns; });
  const boost::math::binomial share(static_cast<double>(samples_ns.size()), 1 - q);
  const auto least = static_cast<double>(beyond);
  const double at_most = boost::math::cdf(share, least);
  const double at_least = beyond > 0 ? boost::math::cdf(boost::math::complement(share, least - 1)) : 1;
  const bool below = at_most <= kDoubt;
  const bool above = at_least <= kDoubt;
  if (constraint.at_most ? below : above) return std::nullopt;
  messages::ConstraintBroken broken{.metric = constraint.metric,
                                    .at_most = constraint.at_most,
                                    .bound = constraint.bound,
                                    .beyond = beyond,
                                    .samples = std::ssize(samples_ns)};
  if (constraint.at_most ? !above : !below) broken.needed = stats::samples_needed(q);
  return messages::constraint_broken(broken);
}

}  // namespace

std::optional<schema::Message> broken_constraint(const schema::Constraint& constraint,
                                                 const schema::Measurement& measurement, const Summary& summary) {
  const auto value = metric_value(measurement, summary, constraint.metric);
  if (value && (constraint.at_most ? *value <= constraint.bound : *value >= constraint.bound)) return std::nullopt;
  const auto q = percentile_of(constraint.metric);
  if (!value && q && !measurement.latency_ns.empty()) return binomial_check(constraint, *q, measurement.latency_ns);
  return messages::constraint_broken(
      {.metric = constraint.metric, .at_most = constraint.at_most, .bound = constraint.bound, .value = value});
}

std::int64_t samples_wanted(const schema::Constraint& constraint) noexcept {
  const auto q = percentile_of(constraint.metric);
  return q ? std::min(stats::samples_needed(*q), kMostWanted) : 0;
}

}  // namespace ridgeline::analysis
