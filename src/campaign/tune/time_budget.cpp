// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/time_budget.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/ranking.hpp"
#include "analysis/summary.hpp"
#include "campaign/tune/pair_plan.hpp"
#include "campaign/tune/session_limit.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

/// Until the first inference, beyond making the session: starting CUDA took 1.5 s on an H200 host.
constexpr double kStartOnGpuS = 1.5;
constexpr double kStartOnCpuS = 0.2;
constexpr double kNothingS = 1e-9;

struct Arm {
  double setup_s = 0;
  double session_s = 0;  ///< of it making the session and the first inference
  double inference_s = 0;
};

bool measured(const schema::TrialOutcome& outcome) {
  return outcome.measurement && !outcome.measurement->latency_ns.empty();
}

/// What a trial takes beside its timed inferences: the sessions, warming up, checking and taking down.
double untimed_s(const schema::TrialOutcome& outcome, double sessions) {
  const auto& timed = outcome.measurement->latency_ns;
  return std::max(0.0, outcome.duration_s - std::accumulate(timed.begin(), timed.end(), 0.0) * 1e-9 / sessions);
}

/// What `of` says of this run's trials, without the first where there are others, because it starts the runtime.
template <typename Of>
std::vector<double> of_warm_trials(const TuneResult& result, Of of) {
  std::vector<double> values;
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (trial.from_store || found == result.outcomes.end()) continue;
    if (const std::optional<double> value = of(trial, found->second)) values.push_back(*value);
  }
  if (values.size() > 1) values.erase(values.begin());
  return values;
}

/// A failed trial's time is all its sessions'.
std::optional<double> untimed_s_a_session(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) {
  const double sessions = sessions_of(trial.configuration);
  return (measured(outcome) ? untimed_s(outcome, sessions) : outcome.duration_s) / sessions;
}

double usual_untimed_s(const TuneResult& result) {
  const auto seconds = of_warm_trials(result, [](const auto& trial, const auto& outcome) {
    return measured(outcome) ? std::optional<double>(untimed_s(outcome, sessions_of(trial.configuration)))
                             : std::nullopt;
  });
  return seconds.empty() ? 0 : stats::quantile(seconds, 0.5);
}

Arm arm_of(const schema::TrialOutcome* outcome, double sessions, double usual_s, bool on_gpu) {
  if (outcome == nullptr || !measured(*outcome)) return {};
  const auto& seen = *outcome->measurement;
  const double inference_s = stats::quantile(seen.latency_ns, 0.5) * 1e-9;
  const double untimed = untimed_s(*outcome, sessions);
  // Of several sessions the record has the first one's first run only; the others', which search for convolutions on a
  // GPU, are somewhere in the rest.
  if (sessions > 1 && on_gpu) return {untimed, untimed, inference_s};
  const double session_s = (seen.session_create_ns + seen.first_run_ns) * 1e-9;
  return {std::max(session_s, std::min(untimed, usual_s)), session_s, inference_s};
}

/// Run at the start of a block without being counted.
double discarded_s(const schema::PairedPlan& plan, double inference_s) {
  return std::max(plan.discard_time_s, static_cast<double>(plan.discard_runs) * inference_s);
}

double quad_s(const schema::PairedPlan& plan, const Arm& a, const Arm& b) {
  const double inference_s = std::max(a.inference_s, b.inference_s);
  const double block_s = std::max(plan.block_time_s, static_cast<double>(plan.min_block_runs) * inference_s);
  return 4 * (discarded_s(plan, inference_s) + block_s + plan.settle_s);
}

int least_rounds(const schema::PairedPlan& plan) { return std::clamp(plan.rounds, 1, std::max(1, plan.quads)); }

/// The blocks of a round, which has a few quads come what may.
double least_round_s(const schema::PairedPlan& plan, const Arm& a, const Arm& b) {
  const int least = least_rounds(plan);
  return std::min(4, (plan.quads + least - 1) / least) * (quad_s(plan, a, b) - 4 * plan.settle_s);
}

/// The most rounds that measure::measure_paired_rounds makes: a short one, then whole turns of rounds that last as long
/// as making their sessions does, until less than that is left.
double most_rounds(const schema::PairedPlan& plan, const Arm& a, const Arm& b) {
  const double least = least_rounds(plan);
  if (plan.max_rounds <= least || least < plan.rounds) return least;
  const double making_s = a.session_s + b.session_s;  // the machine is warm
  const double first_s = std::max(plan.min_time_s / least, least_round_s(plan, a, b));
  const double round_s = std::max(first_s, std::min(making_s, plan.max_time_s / 6));
  const double further = std::max(0.0, plan.max_time_s - first_s - making_s) / round_s;
  return std::clamp(2 * std::ceil((1 + further) / 2), 2.0, std::max(2.0, static_cast<double>(plan.max_rounds)));
}

/// Making and warming up the sessions of all rounds, of as many as an uneven machine may need.
double sessions_s(const schema::PairedPlan& plan, const Arm& a, const Arm& b) {
  const double first_s = a.setup_s + b.setup_s;
  const double rounds = most_rounds(plan, a, b);
  if (plan.max_rounds <= plan.rounds || plan.quads < plan.rounds) return rounds * first_s;
  return first_s + (rounds - 1) * (a.session_s + b.session_s);
}

/// As many blocks of an arm as its share of the samples asks for.
double samples_s(const schema::PairedPlan& plan, const Arm& arm) {
  if (plan.min_samples <= 0 || !(arm.inference_s > 0)) return 0;
  const double runs =
      std::max(static_cast<double>(plan.min_block_runs), std::ceil(plan.block_time_s / arm.inference_s));
  return std::ceil(static_cast<double>(plan.min_samples) / runs) *
         (plan.settle_s + discarded_s(plan, arm.inference_s) + runs * arm.inference_s);
}

const schema::TrialOutcome* outcome_of(const TuneResult& result, const schema::Configuration& configuration) {
  for (const auto& trial : result.run.trials) {
    if (trial.configuration != configuration) continue;
    const auto found = result.outcomes.find(trial.key);
    return found == result.outcomes.end() ? nullptr : &found->second;
  }
  return nullptr;
}

/// What was not measured may take as long to set up as the slowest of this run's.
double slowest_setup_s(const TuneResult& result, double sessions) {
  const auto untimed = of_warm_trials(result, untimed_s_a_session);
  return untimed.empty() ? 0 : sessions * *std::max_element(untimed.begin(), untimed.end());
}

std::pair<Arm, Arm> arms_of(const TuneResult& result, const schema::Configuration& a, const schema::Configuration& b) {
  const double usual_s = usual_untimed_s(result);
  const bool on_gpu = result.run.on_gpu();
  const auto* outcome = outcome_of(result, b);
  auto arm_b = arm_of(outcome, sessions_of(b), usual_s, on_gpu);
  if (outcome == nullptr)
    arm_b.setup_s = arm_b.session_s = slowest_setup_s(result, sessions_of(b));
  else if (arm_b.setup_s == 0 && sessions_of(b) > 1)
    arm_b.setup_s = arm_b.session_s = sessions_of(b) * stats::mean(of_warm_trials(result, untimed_s_a_session));
  return {arm_of(outcome_of(result, a), sessions_of(a), usual_s, on_gpu), arm_b};
}

/// All blocks of a plan, pauses included, but the samples of a tail.
double blocks_s(const schema::PairedPlan& plan, const Arm& a, const Arm& b) {
  return std::max(std::min(std::max(plan.quads, plan.max_quads) * quad_s(plan, a, b), plan.max_time_s),
                  most_rounds(plan, a, b) * least_round_s(plan, a, b));
}

}  // namespace

double expected_trial_s(const TuneResult& result, const schema::Configuration& configuration) {
  const auto timed = of_warm_trials(result, [](const auto& trial, const auto& outcome) {
    return std::optional(measured(outcome) ? outcome.duration_s - untimed_s(outcome, sessions_of(trial.configuration))
                                           : 0.0);
  });
  const auto untimed = of_warm_trials(result, untimed_s_a_session);
  return stats::mean(timed) + sessions_of(configuration) * stats::mean(untimed);
}

double expected_alone_s(const TuneResult& result, const schema::Configuration& configuration) {
  const auto* outcome = outcome_of(result, configuration);
  return kStartOnGpuS + std::max(outcome != nullptr ? outcome->duration_s : 0, expected_trial_s(result, configuration));
}

double expected_graph_s(const TuneResult& result) {
  constexpr double kWeightsPerS = 1e9;  // bytes, through a file
  double session_s = 0;
  for (const auto& trial : result.run.trials) {
    const auto* outcome = outcome_of(result, trial.configuration);
    if (outcome == nullptr || !measured(*outcome)) continue;
    const auto& seen = *outcome->measurement;
    const double one_s = seen.session_create_ns * 1e-9 / std::max<double>(1, static_cast<double>(seen.lanes));
    if (one_s > 0 && (session_s == 0 || one_s < session_s)) session_s = one_s;  // the first starts the runtime too
  }
  return session_s > 0 ? session_s + static_cast<double>(result.run.model.parameter_bytes) / kWeightsPerS : 0;
}

double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process,
                       const schema::Configuration& a, const schema::Configuration& b) {
  const auto [arm_a, arm_b] = arms_of(result, a, b);
  const double start_s = !fresh_process ? 0 : result.run.on_gpu() ? kStartOnGpuS : kStartOnCpuS;
  const double tail_s = std::min(samples_s(plan, arm_a) + samples_s(plan, arm_b), plan.min_samples_time_s);
  return start_s + sessions_s(plan, arm_a, arm_b) + std::max(blocks_s(plan, arm_a, arm_b), tail_s);
}

double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process) {
  const auto ranking = analysis::rank(result.run, result.outcomes);
  if (ranking.empty()) return 0;
  const auto& best = ranking.front().trial->configuration;
  return expected_pair_s(result, pair_plan(result, plan, result.run.current, best, 1), fresh_process,
                         result.run.current, best);
}

double longest_trial_s(const TuneResult& result) {
  const auto seconds =
      of_warm_trials(result, [](const auto&, const auto& outcome) { return std::optional(outcome.duration_s); });
  return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
}

schema::PairedPlan fitted_plan(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process,
                               const schema::Configuration& a, const schema::Configuration& b, double left_s) {
  const auto arms = arms_of(result, a, b);
  const double most_s = blocks_s(plan, arms.first, arms.second);
  const auto over_s = [&](const schema::PairedPlan& cut) {
    return expected_pair_s(result, cut, fresh_process, a, b) - left_s;
  };
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

}  // namespace ridgeline::campaign
