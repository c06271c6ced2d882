// SPDX-License-Identifier: Apache-2.0
#include "stats/round_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>

#include "stats/mean.hpp"
#include "stats/rounds.hpp"

namespace ridgeline::stats {
namespace {

constexpr double kTrim = 0.2;

constexpr std::size_t kFewAbbaRounds = 8;
constexpr std::size_t kFewRounds = 16;  // whose means are near enough to normal

/// Trimmed mean and its standard error: sqrt(Winsorized sum of squares / (h (h - 1))), h values left after trimming.
/// Needs two values. Below `few` the degrees of freedom are too few to give any away: the plain mean.
LogEstimate robust_location(std::vector<double> values, std::size_t few = kFewAbbaRounds) {
  std::sort(values.begin(), values.end());
  const auto trim = values.size() < few ? 0 : static_cast<std::size_t>(kTrim * static_cast<double>(values.size()));
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(trim);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(trim);
  const auto kept = static_cast<double>(last - first);
  const double location = std::accumulate(first, last, 0.0) / kept;
  std::fill(values.begin(), first, *first);
  std::fill(last, values.end(), *(last - 1));
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  // Twelve normal values are called different from 0 in 5.4 % of cases with h - 1 degrees of freedom, 4.8 % with h - 2.
  return {location, std::sqrt(squares / (kept * (kept - 1))), trim > 0 ? kept - 2 : kept - 1};
}

/// Of a round: trimmed also where there are few, as an ABBA round in whose midst the machine changed its pace is off by
/// tens of per cent. What rounds differ by says how sure it is.
double round_location(std::vector<double> values) {
  if (values.size() >= kFewAbbaRounds) return robust_location(std::move(values)).location;
  std::sort(values.begin(), values.end());
  const auto trim = static_cast<std::ptrdiff_t>(values.size() / 4);
  return std::accumulate(values.begin() + trim, values.end() - trim, 0.0) /
         static_cast<double>(static_cast<std::ptrdiff_t>(values.size()) - 2 * trim);
}

/// With what so few pairs of sessions cannot show.
LogEstimate with_allowance(LogEstimate estimate, int rounds, double session_stdev) {
  if (rounds < 1 || rounds >= kScatterRounds) return estimate;
  const double session = rounds == 1 ? kRunToRunStdev : std::max(kRunToRunStdev, session_stdev);
  estimate.error = std::hypot(estimate.error, session * std::sqrt(2.0 / rounds), rounds == 1 ? kOrderStdev : 0);
  return estimate;
}

/// One degree of freedom was spent on the order of the turns.
LogEstimate with_order_effect_estimated(LogEstimate estimate) {
  estimate.error *= std::sqrt(estimate.freedom / (estimate.freedom - 1));
  estimate.freedom -= 1;
  return estimate;
}

/// Of rounds, with what is known of sessions beforehand. `over_ratios`: of all their ABBA rounds.
LogEstimate moderated(const LogEstimate& over_rounds, const LogEstimate& over_ratios, double rounds,
                      double session_stdev) {
  const double expected = 2 * session_stdev * session_stdev + rounds * over_ratios.error * over_ratios.error;
  const double seen = rounds * over_rounds.error * over_rounds.error;
  const double freedom = kSessionFreedom + over_rounds.freedom;
  const double variance = (kSessionFreedom * expected + over_rounds.freedom * seen) / freedom;
  return {over_rounds.location, std::sqrt(variance / rounds), freedom};
}

}  // namespace

double half_width(const LogEstimate& estimate) { return student_half_width(estimate.freedom) * estimate.error; }

std::optional<LogEstimate> estimate_of_rounds(const std::vector<RoundRatio>& ratios, int rounds, double session_stdev) {
  if (ratios.size() < 2) return std::nullopt;
  std::map<int, std::vector<double>> by_round;
  for (const auto& ratio : ratios) by_round[ratio.round].push_back(ratio.log);
  std::vector<double> means;
  for (const auto& [round, values] : by_round) means.push_back(round_location(values));
  const double effect = order_effect(means);
  std::vector<double> logs;
  for (const auto& ratio : ratios) logs.push_back(without_order_effect(ratio.log, ratio.round, effect));
  auto over_ratios = robust_location(std::move(logs));
  if (means.size() < 2) return with_allowance(over_ratios, rounds, session_stdev);
  for (std::size_t round = 0; round < means.size(); ++round)
    means[round] = without_order_effect(means[round], static_cast<int>(round), effect);
  auto over_rounds = robust_location(std::move(means), kFewRounds);
  over_ratios.location = over_rounds.location;
  if (by_round.size() < static_cast<std::size_t>(kScatterRounds))
    return with_allowance(over_ratios, rounds, session_stdev);
  over_rounds = with_order_effect_estimated(over_rounds);
  if (session_stdev > 0)
    return moderated(over_rounds, over_ratios, static_cast<double>(by_round.size()), session_stdev);
  return half_width(over_rounds) >= half_width(over_ratios) ? over_rounds : over_ratios;
}

std::optional<SessionScatter> session_scatter(const std::vector<RoundRatio>& ratios) {
  std::map<int, std::vector<double>> by_round;
  for (const auto& ratio : ratios) by_round[ratio.round].push_back(ratio.log);
  if (by_round.size() < static_cast<std::size_t>(kScatterRounds)) return std::nullopt;
  const auto rounds = static_cast<double>(by_round.size());
  std::vector<double> means;
  double within = 0;
  for (const auto& [round, values] : by_round) {
    if (values.size() < 2) return std::nullopt;
    means.push_back(round_location(values));
    const double error = robust_location(values).error;
    within += error * error / rounds;
  }
  const double effect = order_effect(means);
  for (std::size_t round = 0; round < means.size(); ++round)
    means[round] = without_order_effect(means[round], static_cast<int>(round), effect);
  const double freedom = rounds - 2;
  return SessionScatter{(variance(means) * (rounds - 1) / freedom - within) / 2, freedom};
}

std::optional<LogEstimate> estimate_of_groups(const std::vector<double>& ratios, int rounds, double session_stdev) {
  if (ratios.size() < 2) return std::nullopt;
  return with_allowance(robust_location(ratios), rounds, session_stdev);
}

}  // namespace ridgeline::stats
