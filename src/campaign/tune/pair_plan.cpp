// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/pair_plan.hpp"

#include <algorithm>
#include <optional>

#include "analysis/summary.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kSlowInferenceNs = 50e6;  // above this one timed run a block is plenty, and three would take minutes
constexpr int kLeastAbbaRounds = 4;
constexpr double kFarAhead = 1.25;

/// An H200 at its power limit: in the first 0.05 s of a block that follows one of a less hungry arm the ratio of the
/// two was 3 to 8 % better than after 0.4 s, after 0.2 s within 0.8 % (benchmarks/results/h200/power_limit.md).
constexpr double kLimitMemoryS = 0.2;
constexpr double kSustainedBlockS = 0.1;

bool was_held_down(const schema::Measurement& seen) { return schema::has_flag(seen.flags, "throttled"); }

schema::PairedPlan of_what_is_sustained(schema::PairedPlan plan) {
  plan.discard_time_s = std::max(plan.discard_time_s, kLimitMemoryS);
  plan.block_time_s = std::max(plan.block_time_s, kSustainedBlockS);
  plan.abba_rounds = std::min(plan.abba_rounds, kLeastAbbaRounds);  // of a second each
  return plan;
}

/// Of a configuration's trial, corrected by the machine's speed where that is known; nullopt: not measured to the end.
std::optional<stats::Interval> cost_interval(const TuneResult& result, const schema::Configuration& configuration) {
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (trial.configuration != configuration || found == result.outcomes.end() || !found->second.measurement ||
        found->second.measurement->latency_ns.empty())
      continue;
    if (trial.corrected) return stats::Interval{trial.corrected->low, trial.corrected->high};
    return analysis::cost_of(*found->second.measurement, result.run.request.objective).interval;
  }
  return std::nullopt;
}

/// Whether `b` was so much faster than `a` that few rounds show it.
bool is_far_ahead(const TuneResult& result, const schema::Configuration& a, const schema::Configuration& b) {
  const auto of_a = cost_interval(result, a);
  const auto of_b = cost_interval(result, b);
  return of_a && of_b && of_a->low > kFarAhead * of_b->high;
}

/// On simulated machines it took 14 to 19 % off a quick search and lost nothing that 200 runs show
/// (benchmarks/results/recommendation_regret.md).
schema::PairedPlan of_what_is_far_ahead(schema::PairedPlan plan) {
  plan.rounds = plan.max_rounds = 2;
  plan.abba_rounds = std::min(plan.abba_rounds, 8);
  plan.max_abba_rounds = std::min(plan.max_abba_rounds, 16);
  plan.min_time_s = std::min(plan.min_time_s, 2.0);
  plan.max_time_s = std::min(plan.max_time_s, 6.0);
  return plan;
}

}  // namespace

schema::PairedPlan pair_plan(const TuneResult& result, schema::PairedPlan plan, const schema::Configuration& a,
                             const schema::Configuration& b, double share) {
  double slowest_ns = 0;
  bool held_down = false;
  bool any_held_down = false;
  bool measured_a = false;
  bool measured_b = false;
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (found == result.outcomes.end() || !found->second.measurement || found->second.measurement->latency_ns.empty())
      continue;
    const auto& seen = *found->second.measurement;
    any_held_down = any_held_down || was_held_down(seen);
    if (trial.configuration != a && trial.configuration != b) continue;
    measured_a = measured_a || trial.configuration == a;
    measured_b = measured_b || trial.configuration == b;
    held_down = held_down || was_held_down(seen);
    slowest_ns = std::max(slowest_ns, stats::quantile(seen.latency_ns, 0.5));
  }
  // What was not measured may be throttled as another was.
  if (!measured_a || !measured_b) held_down = any_held_down;
  if (slowest_ns > kSlowInferenceNs && plan.min_samples == 0) plan.min_block_runs = 1;
  if (held_down) plan = of_what_is_sustained(plan);
  if (is_quick(result.run) && plan.min_samples == 0 && !held_down && plan.rounds > 2 && is_far_ahead(result, a, b))
    plan = of_what_is_far_ahead(plan);
  plan.abba_rounds = std::max(kLeastAbbaRounds, static_cast<int>(plan.abba_rounds * share));
  plan.max_abba_rounds = std::max(plan.abba_rounds, static_cast<int>(plan.max_abba_rounds * share));
  plan.min_time_s *= share;
  plan.max_time_s *= share;
  return plan;
}

schema::PairedPlan short_pair_plan(const TuneResult& result, schema::PairedPlan plan, const schema::Configuration& a,
                                   const schema::Configuration& b) {
  plan.rounds = plan.max_rounds = 2;
  plan.abba_rounds = std::min(plan.abba_rounds, 8);
  plan.max_abba_rounds = std::min(plan.max_abba_rounds, 32);
  plan.target_half_width = 0.008;
  plan.min_time_s = std::min(plan.min_time_s, 0.3);
  plan.max_time_s = std::min(plan.max_time_s, 3.0);
  plan.min_samples = 0;
  return pair_plan(result, plan, a, b, 1);
}

}  // namespace ridgeline::campaign
