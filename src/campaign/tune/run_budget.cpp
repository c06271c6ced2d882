// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/run_budget.hpp"

#include <algorithm>
#include <limits>

#include "campaign/tune/pair_plan.hpp"
#include "campaign/tune/time_budget.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kSearchShare = 0.7;  // of --max-time; the rest is for comparisons
// Of --max-time. Where all of the time is for one comparison none can be left out, and on an H200 with an uneven CPU
// what was planned for 9 s took up to 9.3 (benchmarks/results/h200/README.md).
constexpr double kPlannedShareForOnePair = 0.9;
constexpr double kGraphShare = 0.05;                     // of --max-time, the most for reading the runtime's graph
constexpr std::int64_t kMostGraphBytes = 2'000'000'000;  // of weights, which go through a temporary file

}  // namespace

double RunBudget::time_left_s() const {
  if (!request_.max_time) return std::numeric_limits<double>::infinity();
  return (has_one_pair() ? kPlannedShareForOnePair : kPlannedShare) * base::to_seconds(*request_.max_time) -
         runner_.spent_s();
}

double RunBudget::pair_s(const std::vector<search::Proposal>& next) const {
  if (request_.finalists == 0) return 0;
  double most_s = expected_pair_s(result_, request_.paired, request_.fresh_finals);
  const auto& current = result_.run.current;
  for (const auto& proposal : next) {
    const auto plan = pair_plan(result_, request_.paired, current, proposal.configuration, 1);
    most_s = std::max(most_s, expected_pair_s(result_, plan, request_.fresh_finals, current, proposal.configuration));
  }
  return most_s;
}

bool RunBudget::is_up(double next_s, const std::vector<search::Proposal>& next) const {
  if (!request_.max_time) return false;
  const auto& run = result_.run;
  const bool has_candidate = std::any_of(run.trials.begin(), run.trials.end(), [&](const auto& trial) {
    const auto& outcome = result_.outcomes.at(trial.key);
    return trial.configuration != run.current && trial.configuration != space_.defaults() &&
           outcome.status == schema::TrialStatus::ok &&
           outcome.measurement->stop_reason != schema::StopReason::abandoned;
  });
  const bool late = runner_.spent_s() > kSearchShare * base::to_seconds(*request_.max_time);
  if (!has_candidate) return late;
  return (late && request_.finalists > 0 && !has_one_pair()) || time_left_s() < next_s + pair_s(next);
}

bool RunBudget::is_up(const std::vector<search::Proposal>& next) const {
  double most_s = 0;
  for (const auto& proposal : next) most_s = std::max(most_s, expected_trial_s(result_, proposal.configuration));
  return is_up(most_s, next);
}

bool RunBudget::has_time_for_graph() const {
  return request_.fresh_finals && result_.run.model.parameter_bytes <= kMostGraphBytes &&
         (!request_.max_time || expected_graph_s(result_) < kGraphShare * base::to_seconds(*request_.max_time));
}

}  // namespace ridgeline::campaign
