// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/pair_plan.hpp"

#include <algorithm>

#include "analysis/summary.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kSlowInferenceNs = 50e6;  // above this one timed run a block is plenty, and three would take minutes
constexpr int kLeastAbbaRounds = 4;

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
