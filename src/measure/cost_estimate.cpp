// SPDX-License-Identifier: Apache-2.0
#include "measure/cost_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/quantile.hpp"

namespace ridgeline::measure {
namespace {

/// Until the first inference, beyond making the session: starting CUDA took 1.5 s on an H200 host.
constexpr double kStartOnGpuS = 1.5;
constexpr double kStartOnCpuS = 0.2;
constexpr double kTakeOverS = 0.5;  // a process that was prepared: to take it over, and to warm up
constexpr double kNothingS = 1e-9;
constexpr double kWeightBytesPerS = 1e9;  // through a file

/// What `of` says of each trial that was made on a warm machine; of timed ones only where `timed_only`.
template <typename Of>
std::vector<double> of_warm(const TrialCosts& made, bool timed_only, Of of) {
  std::vector<double> values;
  for (const auto& trial : made)
    if (trial.timed || !timed_only) values.push_back(of(trial));
  if (values.size() > 1) values.erase(values.begin());
  return values;
}

std::vector<double> untimed_s_a_session(const TrialCosts& made) {
  return of_warm(made, false, [](const auto& trial) { return trial.untimed_s / trial.sessions; });
}

/// The same of sessions that are made again.
std::vector<double> again_s_a_session(const TrialCosts& made) {
  return of_warm(made, false, [](const auto& trial) {
    const double again_s =
        trial.saved_s > 0 ? std::max(trial.session_s, trial.untimed_s - trial.saved_s) : trial.untimed_s;
    return again_s / trial.sessions;
  });
}

double most(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

PairCost::Arm arm_of(const TrialCosts& made, const TrialCost& trial, bool on_gpu) {
  if (!trial.timed) return {};
  // Of several sessions the record has the first one's first run only; the others', which search for convolutions on a
  // GPU, are somewhere in the rest.
  if (trial.sessions > 1 && on_gpu) return {trial.untimed_s, trial.untimed_s, trial.inference_s};
  const auto untimed = of_warm(made, true, [](const auto& one) { return one.untimed_s; });
  const double usual_s = untimed.empty() ? 0 : stats::quantile(untimed, 0.5);
  return {std::max(trial.session_s, std::min(trial.untimed_s, usual_s)), trial.session_s, trial.inference_s};
}

/// Run at the start of a block without being counted.
double discarded_s(const schema::PairedPlan& plan, double inference_s) {
  return std::max(plan.discard_time_s, static_cast<double>(plan.discard_runs) * inference_s);
}

double abba_round_s(const schema::PairedPlan& plan, const PairCost::Arm& a, const PairCost::Arm& b) {
  const double inference_s = std::max(a.inference_s, b.inference_s);
  const double block_s = std::max(plan.block_time_s, static_cast<double>(plan.min_block_runs) * inference_s);
  return 4 * (discarded_s(plan, inference_s) + block_s + plan.settle_s);
}

int least_rounds(const schema::PairedPlan& plan) { return std::clamp(plan.rounds, 1, std::max(1, plan.abba_rounds)); }

/// The blocks of a round, which has a few ABBA rounds come what may.
double least_round_s(const schema::PairedPlan& plan, const PairCost::Arm& a, const PairCost::Arm& b) {
  const int least = least_rounds(plan);
  return std::min(4, (plan.abba_rounds + least - 1) / least) * (abba_round_s(plan, a, b) - 4 * plan.settle_s);
}

/// The most rounds that measure::measure_paired_rounds makes: a short one, then whole turns of rounds that last as long
/// as making their sessions does, until less than that is left.
double most_rounds(const schema::PairedPlan& plan, const PairCost::Arm& a, const PairCost::Arm& b) {
  const double least = least_rounds(plan);
  if (plan.max_rounds <= least || least < plan.rounds) return least;
  const double making_s = a.session_s + b.session_s;  // the machine is warm
  const double first_s = std::max(plan.min_time_s / least, least_round_s(plan, a, b));
  const double round_s = std::max(first_s, std::min(making_s, plan.max_time_s / 6));
  const double further = std::max(0.0, plan.max_time_s - first_s - making_s) / round_s;
  return std::clamp(2 * std::ceil((1 + further) / 2), 2.0, std::max(2.0, static_cast<double>(plan.max_rounds)));
}

/// Making and warming up the sessions of all rounds, of as many as an uneven machine may need.
double sessions_s(const schema::PairedPlan& plan, PairCost::Arm a, PairCost::Arm b) {
  const double rounds = most_rounds(plan, a, b);
  const double ready_s = std::max(a.ready_s.value_or(0), b.ready_s.value_or(0));
  for (auto* arm : {&a, &b})
    if (arm->ready_s) arm->setup_s = arm->session_s = std::min(arm->session_s, kTakeOverS);
  const double first_s = a.setup_s + b.setup_s;
  if (plan.max_rounds <= plan.rounds || plan.abba_rounds < plan.rounds) return ready_s + rounds * first_s;
  return ready_s + first_s + (rounds - 1) * (a.session_s + b.session_s);
}

/// As many blocks of an arm as its share of the samples asks for.
double samples_s(const schema::PairedPlan& plan, const PairCost::Arm& arm) {
  if (plan.min_samples <= 0 || !(arm.inference_s > 0)) return 0;
  const double runs =
      std::max(static_cast<double>(plan.min_block_runs), std::ceil(plan.block_time_s / arm.inference_s));
  return std::ceil(static_cast<double>(plan.min_samples) / runs) *
         (plan.settle_s + discarded_s(plan, arm.inference_s) + runs * arm.inference_s);
}

/// All blocks of a plan, pauses included, but the samples of a tail.
double blocks_s(const schema::PairedPlan& plan, const PairCost& cost) {
  return std::max(
      std::min(std::max(plan.abba_rounds, plan.max_abba_rounds) * abba_round_s(plan, cost.a, cost.b), plan.max_time_s),
      most_rounds(plan, cost.a, cost.b) * least_round_s(plan, cost.a, cost.b));
}

/// What a session that is made again need not compile. PyTorch 2.15 took 1.7 s in place of 16 s for a small model on a
/// CPU, and 1.6 to 8 s in place of 15 to 50 s for the models of a GPU.
constexpr double kOfColdCompile = 0.2;
double saved_by_cache_s(const schema::Measurement& seen) {
  const auto compile = seen.metrics.find("compile_s");
  if (compile == seen.metrics.end()) return 0;
  if (!schema::has_flag(seen.flags, schema::kColdCompile) && !schema::has_flag(seen.flags, schema::kCompiledAnew))
    return 0;  // it took its graphs from the cache, or compiles nothing that a cache keeps
  return std::min(compile->second, seen.session_create_ns * 1e-9) * (1 - kOfColdCompile);
}

}  // namespace

TrialCost trial_cost(const schema::TrialOutcome& outcome, double sessions) {
  TrialCost cost;
  cost.tried = true;
  cost.sessions = sessions;
  cost.duration_s = cost.untimed_s = outcome.duration_s;
  if (!outcome.measurement || outcome.measurement->latency_ns.empty()) return cost;
  const auto& seen = *outcome.measurement;
  const double timed_ns = std::accumulate(seen.latency_ns.begin(), seen.latency_ns.end(), 0.0);
  cost.timed = true;
  cost.untimed_s = std::max(0.0, outcome.duration_s - timed_ns * 1e-9 / sessions);
  cost.saved_s = saved_by_cache_s(seen);
  const double again_s = seen.session_create_ns * 1e-9 - cost.saved_s;
  cost.create_s = again_s / std::max<double>(1, static_cast<double>(seen.concurrency));
  cost.session_s = again_s + seen.first_run_ns * 1e-9;
  return cost;
}

TrialCost trial_cost_with_median(const schema::TrialOutcome& outcome, double sessions) {
  auto cost = trial_cost(outcome, sessions);
  if (cost.timed) cost.inference_s = stats::quantile(outcome.measurement->latency_ns, 0.5) * 1e-9;
  return cost;
}

double expected_trial_s(const TrialCosts& made, double sessions) {
  const auto timed = of_warm(made, false, [](const auto& trial) { return trial.duration_s - trial.untimed_s; });
  return mean(timed) + sessions * mean(untimed_s_a_session(made));
}

double longest_trial_s(const TrialCosts& made) {
  return most(of_warm(made, false, [](const auto& trial) { return trial.duration_s; }));
}

double expected_isolated_s(const TrialCosts& made, const TrialCost& own) {
  return kStartOnGpuS + std::max(own.duration_s, expected_trial_s(made, own.sessions));
}

double expected_graph_s(const TrialCosts& known, std::int64_t weight_bytes) {
  double session_s = 0;
  for (const auto& trial : known)  // the least, as the first starts the runtime too
    if (trial.create_s > 0 && (session_s == 0 || trial.create_s < session_s)) session_s = trial.create_s;
  return session_s > 0 ? session_s + static_cast<double>(weight_bytes) / kWeightBytesPerS : 0;
}

PairCost pair_cost(const TrialCosts& made, const TrialCost& a, const TrialCost& b, bool on_gpu, bool fresh_process) {
  PairCost cost{arm_of(made, a, on_gpu), arm_of(made, b, on_gpu), 0};
  if (!b.tried)
    cost.b.setup_s = cost.b.session_s = b.sessions * most(again_s_a_session(made));
  else if (cost.b.setup_s == 0 && b.sessions > 1)
    cost.b.setup_s = cost.b.session_s = b.sessions * mean(untimed_s_a_session(made));
  if (fresh_process) cost.start_s = on_gpu ? kStartOnGpuS : kStartOnCpuS;
  return cost;
}

PairCost in_own_processes(PairCost cost, bool on_gpu) {
  const double start_s = on_gpu ? kStartOnGpuS : kStartOnCpuS;
  cost.start_s = 0;
  for (auto* arm : {&cost.a, &cost.b}) {
    arm->setup_s += start_s;
    arm->session_s += start_s;
  }
  return cost;
}

double expected_pair_s(const schema::PairedPlan& plan, const PairCost& cost) {
  const double tail_s = std::min(samples_s(plan, cost.a) + samples_s(plan, cost.b), plan.min_samples_time_s);
  return cost.start_s + sessions_s(plan, cost.a, cost.b) + std::max(blocks_s(plan, cost), tail_s);
}

schema::PairedPlan with_rounds_by_cost(schema::PairedPlan plan, const PairCost& cost) {
  if (!cost.a.ready_s && !cost.b.ready_s) return plan;
  plan.max_rounds = std::min(plan.max_rounds, static_cast<int>(most_rounds(plan, cost.a, cost.b)));
  return plan;
}

schema::PairedPlan fitted_plan(const schema::PairedPlan& plan, const PairCost& cost, double left_s) {
  const double most_s = blocks_s(plan, cost);
  const auto over_s = [&](const schema::PairedPlan& cut) { return expected_pair_s(cut, cost) - left_s; };
  const auto shorter = [&](schema::PairedPlan cut) {
    const double over = over_s(cut);
    if (!(over > 0) || cut.min_samples > 0) return cut;
    cut.max_time_s = std::max(most_s - over, most_s / 2);
    cut.min_time_s = std::min(cut.min_time_s, cut.max_time_s);
    return cut;
  };
  auto cut = shorter(plan);
  for (const int rounds : {2, 1}) {
    if (over_s(cut) < kNothingS || plan.rounds != 2 || plan.max_rounds < rounds) break;
    cut = plan;
    cut.rounds = cut.max_rounds = rounds;
    cut = shorter(cut);
  }
  return cut;
}

}  // namespace ridgeline::measure
