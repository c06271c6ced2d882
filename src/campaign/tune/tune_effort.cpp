// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_effort.hpp"

#include <algorithm>

#include "analysis/constraint_check.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {

base::Result<void> plan_effort(const TuneEffort& effort, schema::TuneRequest& request) {
  auto& plan = request.plan;
  if (effort.quick) {
    plan.max_time_s = 1.5;
    plan.warmup_max_s = 2;
    request.paired.abba_rounds = 8;
    request.paired.max_abba_rounds = 16;
    request.paired.max_time_s = 15;
    request.finalists = 2;
  }
  const bool by_p99 = request.objective == schema::Objective::p99;
  const auto p99_runs = stats::samples_needed(0.99);
  auto tail_runs = by_p99 ? p99_runs : 0;
  for (const auto& constraint : request.constraints)
    tail_runs = std::max(tail_runs, analysis::samples_wanted(constraint));
  if (tail_runs > 0) {
    plan.min_runs = tail_runs;
    plan.max_time_s = std::max(plan.max_time_s, by_p99 ? 60.0 : 15.0);  // so that also slow models come to these
  }
  plan.warmup_runs = effort.warmup_runs.value_or(plan.warmup_runs);
  plan.runs = effort.runs;
  if (by_p99 && plan.runs && *plan.runs < p99_runs)
    return base::fail(base::ErrorCode::invalid_argument,
                      "--runs {}: too few samples for --objective p99; expected at least {}, or leave --runs out",
                      *plan.runs, p99_runs);
  if (effort.trial_time_s) {
    plan.max_time_s = *effort.trial_time_s;
    plan.min_time_s = std::min(plan.min_time_s, plan.max_time_s);
  }
  if (by_p99) {
    request.paired.min_samples = p99_runs;
    request.paired.min_samples_time_s = 3 * plan.max_time_s;  // two sides, with pauses between blocks
    request.paired.min_block_runs = 10;                       // fewer pauses; a tail is of many blocks anyway
  }
  request.paired.warmup = plan;
  return {};
}

}  // namespace ridgeline::campaign
