// SPDX-License-Identifier: Apache-2.0
#include "campaign/time_budget.hpp"

#include <algorithm>

#include "analysis/ranking.hpp"
#include "analysis/summary.hpp"

namespace ridgeline::campaign {
namespace {

/// Until the first inference, beyond making the session: starting CUDA took 1.5 s on an H200 host.
constexpr double kStartOnGpuS = 1.5;
constexpr double kStartOnCpuS = 0.2;

struct Arm {
  double setup_s = 0;
  double inference_s = 0;
};

Arm arm_of(const schema::TrialOutcome* outcome) {
  if (outcome == nullptr || !outcome->measurement || outcome->measurement->latency_ns.empty()) return {};
  const auto& seen = *outcome->measurement;
  return {(seen.session_create_ns + seen.first_run_ns) * 1e-9, analysis::quantile(seen.latency_ns, 0.5) * 1e-9};
}

const schema::TrialOutcome* outcome_of(const TuneResult& result, const schema::Configuration& configuration) {
  for (const auto& trial : result.run.trials) {
    if (trial.configuration != configuration) continue;
    const auto found = result.outcomes.find(trial.key);
    return found == result.outcomes.end() ? nullptr : &found->second;
  }
  return nullptr;
}

}  // namespace

double expected_trial_s(const TuneResult& result) {
  std::vector<double> seconds;
  for (const auto& trial : result.run.trials) {
    const auto found = result.outcomes.find(trial.key);
    if (!trial.from_store && found != result.outcomes.end()) seconds.push_back(found->second.duration_s);
  }
  if (seconds.empty()) return 0;
  const auto from = seconds.begin() + (seconds.size() > 1 ? 1 : 0);
  double sum = 0;
  for (auto at = from; at != seconds.end(); ++at) sum += *at;
  return sum / static_cast<double>(seconds.end() - from);
}

double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process,
                       const schema::Configuration& a, const schema::Configuration& b) {
  const auto arm_a = arm_of(outcome_of(result, a));
  const auto arm_b = arm_of(outcome_of(result, b));
  const double block_s = std::max(plan.block_time_s, static_cast<double>(plan.min_block_runs) *
                                                         std::max(arm_a.inference_s, arm_b.inference_s));
  const double blocks_s = 4 * plan.quads * (block_s + plan.settle_s);
  const double start_s = !fresh_process ? 0 : result.run.provider == "cpu" ? kStartOnCpuS : kStartOnGpuS;
  return start_s + std::max(1, plan.rounds) * (arm_a.setup_s + arm_b.setup_s) + std::min(blocks_s, plan.max_time_s);
}

double expected_pair_s(const TuneResult& result, const schema::PairedPlan& plan, bool fresh_process) {
  const auto ranking = analysis::rank(result.run, result.outcomes);
  if (ranking.empty()) return 0;
  return expected_pair_s(result, plan, fresh_process, result.run.current, ranking.front().trial->configuration);
}

}  // namespace ridgeline::campaign
