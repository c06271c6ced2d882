// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <boost/math/distributions/students_t.hpp>

#include "analysis/summary.hpp"
#include "base/random.hpp"
#include "stats/block_bootstrap.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"
#include "stats/round_estimate.hpp"
#include "stats/rounds.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Objective;

constexpr double kManyDegrees = 1e6;  // of freedom: intervals are normal ones

schema::Comparison to_comparison(const stats::LogEstimate& estimate, double min_effect) {
  const boost::math::students_t student(estimate.freedom);
  const double half = stats::half_width(estimate);
  const auto bounded = [](double log) { return std::clamp(std::exp(log), 1 / kUnbounded, kUnbounded); };
  schema::Comparison comparison;
  comparison.ratio = bounded(estimate.location);
  comparison.low = bounded(estimate.location - half);
  comparison.high = bounded(estimate.location + half);
  if (estimate.error > 0)
    comparison.p_value = 2 * boost::math::cdf(student, -std::abs(estimate.location) / estimate.error);
  else
    comparison.p_value = estimate.location == 0 ? 1 : 0;
  comparison.verdict = judge(comparison.ratio, comparison.low, comparison.high, min_effect);
  return comparison;
}

/// Four blocks with a cost each, in the order they ran.
struct AbbaRound {
  const schema::PairedBlock* block[4];
  int number = 0;  ///< of its round
  [[nodiscard]] int round() const noexcept { return number; }
};

std::vector<AbbaRound> complete_abba_rounds(const std::vector<schema::PairedBlock>& blocks) {
  std::vector<AbbaRound> abba_rounds;
  for (std::size_t at = 0; at + 4 <= blocks.size(); at += 4) {
    const auto* block = &blocks[at];
    const bool in_order = block[0].round == block[3].round && block[0].arm == block[3].arm &&
                          block[1].arm == block[2].arm && block[0].arm != block[1].arm;
    const bool filled = std::all_of(block, block + 4, [](const auto& one) { return !one.latency_ns.empty(); });
    if (in_order && filled) abba_rounds.push_back({{block, block + 1, block + 2, block + 3}, block->round});
  }
  return abba_rounds;
}

/// The ABBA rounds that count (stats::counted_rounds), with the number of their rounds.
struct CountedAbbaRounds {
  std::vector<AbbaRound> abba_rounds;
  int rounds = 0;
};
CountedAbbaRounds without_disturbed(const std::vector<AbbaRound>& abba_rounds, int rounds) {
  std::vector<stats::AbbaRoundMark> marks;
  for (const auto& abba_round : abba_rounds)
    marks.push_back({abba_round.round(), abba_round.block[0]->taken > schema::kTakenCpus});
  const auto counted = stats::counted_rounds(marks);
  CountedAbbaRounds out;
  for (std::size_t at = 0; at < abba_rounds.size(); ++at) {
    if (counted[at] < 0) continue;
    out.abba_rounds.push_back(abba_rounds[at]);
    out.abba_rounds.back().number = counted[at];
    out.rounds = std::max(out.rounds, counted[at] + 1);
  }
  if (out.abba_rounds.size() == abba_rounds.size()) out.rounds = rounds;
  return out;
}

/// One log ratio an ABBA round; a lone ABBA round gives its two halves instead, so that it still has a (very wide)
/// interval.
std::vector<stats::RoundRatio> abba_ratios(const std::vector<AbbaRound>& abba_rounds,
                                           const schema::PairedMeasurement& measurement, Objective objective) {
  const auto cost = [&](const schema::PairedBlock& block) {
    if (objective == Objective::latency) return stats::quantile(block.latency_ns, 0.5);
    const double items = block.arm == 'A' ? measurement.items_per_inference_a : measurement.items_per_inference_b;
    return block.wall_ns / (static_cast<double>(block.latency_ns.size()) * items);
  };
  std::vector<stats::RoundRatio> ratios;
  for (const auto& abba_round : abba_rounds) {
    double costs[4];
    for (int i = 0; i < 4; ++i) costs[i] = cost(*abba_round.block[i]);
    if (std::any_of(costs, costs + 4, [](double value) { return !(value > 0); })) continue;
    const double sign = abba_round.block[0]->arm == 'A' ? 1 : -1;  // above 0 where B is better
    if (abba_rounds.size() == 1)
      return {{sign * std::log(costs[0] / costs[1]), 0}, {sign * std::log(costs[3] / costs[2]), 0}};
    ratios.push_back({sign * stats::abba_log_ratio(costs), abba_round.round()});
  }
  return ratios;
}

std::vector<double> pooled(const std::vector<AbbaRound>& abba_rounds, std::size_t begin, std::size_t end, char arm) {
  std::vector<double> samples;
  for (std::size_t at = begin; at < end; ++at)
    for (const auto* block : abba_rounds[at].block)
      if (block->arm == arm) samples.insert(samples.end(), block->latency_ns.begin(), block->latency_ns.end());
  return samples;
}

/// Where each round begins, and the end.
std::vector<std::size_t> round_limits(const std::vector<AbbaRound>& abba_rounds) {
  std::vector<std::size_t> limits;
  for (std::size_t at = 0; at < abba_rounds.size(); ++at)
    if (at == 0 || abba_rounds[at].round() != abba_rounds[at - 1].round()) limits.push_back(at);
  limits.push_back(abba_rounds.size());
  return limits;
}

/// Tail ratios of groups of ABBA rounds, of whole rounds where there are enough. Under "no difference" the arms of a
/// group are exchangeable, so its log ratio is symmetric about 0 even where the tail estimate of a small group is
/// biased; two samples beyond the stats::quantile suffice.
std::vector<double> tail_ratios(const std::vector<AbbaRound>& abba_rounds, double q, std::size_t samples) {
  constexpr std::size_t kLeastGroups = 4;
  const double wanted = q > 0.5 ? 2 / (1 - q) : 1;
  const auto most = static_cast<std::size_t>(static_cast<double>(samples) / wanted);
  auto limits = round_limits(abba_rounds);
  if (limits.size() - 1 < static_cast<std::size_t>(stats::kScatterRounds)) {
    limits.resize(abba_rounds.size() + 1);
    std::iota(limits.begin(), limits.end(), std::size_t{0});
  }
  const std::size_t parts = limits.size() - 1;
  const std::size_t groups = std::min(parts, std::max(most, kLeastGroups));
  std::vector<double> ratios;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t begin = limits[group * parts / groups];
    const std::size_t end = limits[(group + 1) * parts / groups];
    const double a = stats::quantile(pooled(abba_rounds, begin, end, 'A'), q);
    const double b = stats::quantile(pooled(abba_rounds, begin, end, 'B'), q);
    if (a > 0 && b > 0) ratios.push_back(std::log(a / b));
  }
  return ratios;
}

}  // namespace

schema::Verdict judge(double ratio, double low, double high, double min_effect) noexcept {
  const double band = 1 + min_effect;
  if (low > 1 && ratio >= band) return schema::Verdict::faster;
  if (high < 1 && ratio <= 1 / band) return schema::Verdict::slower;
  if (low >= 1 / band && high <= band) return schema::Verdict::no_difference;
  if (low > 1 || high < 1) return schema::Verdict::no_difference;
  return schema::Verdict::inconclusive;
}

schema::Comparison compare_paired(const schema::PairedMeasurement& measurement, Objective objective, double min_effect,
                                  double session_stdev) {
  const auto counted = without_disturbed(complete_abba_rounds(measurement.blocks), measurement.rounds);
  const auto& abba_rounds = counted.abba_rounds;
  double tail = 0;
  std::optional<stats::LogEstimate> found;
  if (objective == Objective::p99) {
    const auto all = [&](char arm) { return pooled(abba_rounds, 0, abba_rounds.size(), arm).size(); };
    const auto samples = std::min(all('A'), all('B'));
    tail = stats::supported_tail(static_cast<std::int64_t>(samples));
    found = stats::estimate_of_groups(tail_ratios(abba_rounds, tail, samples), counted.rounds, session_stdev);
  } else {
    found = stats::estimate_of_rounds(abba_ratios(abba_rounds, measurement, objective), counted.rounds, session_stdev);
  }
  if (!found) return {};
  auto comparison = to_comparison(*found, min_effect);
  comparison.abba_rounds = static_cast<int>(abba_rounds.size());
  comparison.tail = tail;
  return comparison;
}

std::optional<stats::SessionScatter> session_scatter(const schema::PairedMeasurement& measurement,
                                                     Objective objective) {
  const auto counted = without_disturbed(complete_abba_rounds(measurement.blocks), measurement.rounds);
  return stats::session_scatter(
      abba_ratios(counted.abba_rounds, measurement, objective == Objective::p99 ? Objective::latency : objective));
}

schema::Comparison compare_separate(const schema::Measurement& a, const schema::Measurement& b, Objective objective,
                                    double min_effect) {
  if (a.latency_ns.empty() || b.latency_ns.empty()) return {};
  std::optional<double> q;
  if (objective == Objective::latency) q = 0.5;
  if (objective == Objective::p99)
    q = stats::supported_tail(static_cast<std::int64_t>(std::min(a.latency_ns.size(), b.latency_ns.size())));
  const auto cost = [&](const schema::Measurement& measurement) {
    return q ? stats::quantile(measurement.latency_ns, *q) : cost_of(measurement, objective).value;
  };
  const double cost_a = cost(a);
  const double cost_b = cost(b);
  if (!(cost_a > 0) || !(cost_b > 0)) return {};
  const stats::BlockBootstrap bootstrap_a(a.latency_ns, q);
  const stats::BlockBootstrap bootstrap_b(b.latency_ns, q);
  const double tail = objective == Objective::p99 ? *q : 0;
  schema::Comparison comparison;
  if (std::min(bootstrap_a.blocks(), bootstrap_b.blocks()) < 2) {
    comparison.ratio = cost_a / cost_b;
    comparison.low = 1 / kUnbounded;
    comparison.high = kUnbounded;
    comparison.tail = tail;
    return comparison;
  }
  base::Random random(20260101);
  const double error_a = bootstrap_a.log_error(random);
  const double error_b = bootstrap_b.log_error(random);
  const double error =
      std::sqrt(error_a * error_a + error_b * error_b + 2 * stats::kRunToRunStdev * stats::kRunToRunStdev);
  // Fewer degrees of freedom than Welch would give: the run-to-run share is an assumption, not an estimate.
  const auto freedom = static_cast<double>(std::min(bootstrap_a.blocks(), bootstrap_b.blocks()) - 1);
  comparison = to_comparison({std::log(cost_a / cost_b), error, freedom}, min_effect);
  comparison.tail = tail;
  return comparison;
}

schema::Comparison compare_estimates(const stats::Estimate& a, const stats::Estimate& b, double min_effect) {
  schema::Comparison comparison;
  const auto is_cost = [](double value) { return value > 0 && std::isfinite(value); };
  if (!is_cost(a.value) || !is_cost(b.value)) return comparison;
  const double error_a = stats::log_error(a.low, a.high);
  const double error_b = stats::log_error(b.low, b.high);
  if (error_a > 0 && error_b > 0) {
    const double error =
        std::sqrt(error_a * error_a + error_b * error_b + 2 * stats::kRunToRunStdev * stats::kRunToRunStdev);
    return to_comparison({std::log(a.value / b.value), error, kManyDegrees}, min_effect);
  }
  comparison.ratio = a.value / b.value;
  comparison.low = 1 / kUnbounded;
  comparison.high = kUnbounded;
  return comparison;
}

schema::Comparison inverted(const schema::Comparison& comparison) noexcept {
  auto out = comparison;
  out.ratio = 1 / comparison.ratio;
  out.low = 1 / comparison.high;
  out.high = 1 / comparison.low;
  if (comparison.verdict == schema::Verdict::faster) out.verdict = schema::Verdict::slower;
  if (comparison.verdict == schema::Verdict::slower) out.verdict = schema::Verdict::faster;
  return out;
}

double separate_floor() {
  return std::expm1(
      stats::half_width({0, std::sqrt(2.0) * stats::kRunToRunStdev, stats::BlockBootstrap::kMostBlocks - 1.0}));
}

double separate_min_effect() { return std::ceil(separate_floor() * 100) / 100; }

bool is_no_slower(const schema::Comparison& b_against_a, double margin) noexcept {
  return b_against_a.abba_rounds > 0 && b_against_a.low * (1 + margin) >= 1;
}

bool is_of_quiet_machine(const schema::TunedPair& pair) noexcept {
  return !schema::has_flag(pair.flags, schema::kOthersThroughout) &&
         !schema::has_flag(pair.flags, schema::kSlowStretch);
}

bool is_as_good(const schema::TunedPair& pair, double margin) noexcept {
  return pair.comparison && is_of_quiet_machine(pair) && is_no_slower(*pair.comparison, margin);
}

bool agrees(const schema::Comparison& b_against_a, double cost_a, double cost_b) noexcept {
  if (!(cost_a > 0) || !(cost_b > 0)) return true;
  const double ratio = cost_a / cost_b;
  return ratio >= b_against_a.low && ratio <= b_against_a.high;
}

std::optional<ArmMedians> arm_medians(const schema::PairedMeasurement& measurement) {
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& block : measurement.blocks) {
    if (block.taken >= schema::kTakenCpus) continue;
    auto& arm = block.arm == 'A' ? a : b;
    arm.insert(arm.end(), block.latency_ns.begin(), block.latency_ns.end());
  }
  if (a.empty() || b.empty()) return std::nullopt;
  return ArmMedians{stats::median(std::move(a)), stats::median(std::move(b))};
}

}  // namespace ridgeline::analysis
