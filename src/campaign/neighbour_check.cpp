// SPDX-License-Identifier: Apache-2.0
#include "campaign/neighbour_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/summary.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

/// nullopt: the trial failed or measured nothing.
std::optional<double> cost_of(const schema::TrialOutcome& outcome, schema::Objective objective) {
  if (outcome.status != schema::TrialStatus::ok || !outcome.measurement || outcome.measurement->latency_ns.empty())
    return std::nullopt;
  return analysis::cost_of(*outcome.measurement, objective).value;
}

Result<std::vector<std::optional<double>>> costs(execute::Executor& executor,
                                                 const std::vector<execute::TrialJob>& jobs,
                                                 schema::Objective objective) {
  std::vector<std::optional<double>> found;
  for (auto& outcome : executor.run_trials(jobs)) {
    if (!outcome) return tl::unexpected<base::Error>(std::move(outcome).error());
    found.push_back(cost_of(*outcome, objective));
  }
  return found;
}

}  // namespace

Result<Neighbours> check_neighbours(execute::Executor& executor, const std::vector<schema::TrialSpec>& specs,
                                    schema::Objective objective) {
  std::vector<execute::TrialJob> jobs;
  for (std::size_t lane = 0; lane < specs.size(); ++lane) {
    execute::TrialJob job;
    job.lane = lane;
    job.spec = specs[lane];
    job.options.throughput = objective == schema::Objective::throughput;
    jobs.push_back(std::move(job));
  }
  Neighbours found;
  if (jobs.size() < 2) return found;

  std::vector<execute::TrialJob> like;  // of lane 0's pace, with what they cost alone
  std::vector<double> alone;
  std::string left_out;
  for (const auto& job : jobs) {
    RL_TRY_ASSIGN(const auto cost, costs(executor, {job}, objective));
    const double pace = cost.front() && !alone.empty() ? *cost.front() / alone.front() : 1;
    if (!cost.front() && alone.empty()) {
      found.note = "trials run one after another: the defaults do not run, so what GPUs do to each other is unknown";
      return found;
    }
    if (!cost.front() || std::abs(pace - 1) > Neighbours::kMostDisturbance) {
      left_out += fmt::format(
          "; {} is left out: {}", job.spec.device,
          cost.front() ? fmt::format("alone it takes {:.3g} times as long", pace) : "the defaults do not run there");
      continue;
    }
    like.push_back(job);
    alone.push_back(*cost.front());
  }
  if (like.size() < 2) {
    found.note = "trials run on one GPU" + left_out;
    return found;
  }
  RL_TRY_ASSIGN(const auto beside, costs(executor, like, objective));
  double worst = 0;
  std::string worst_device = like.front().spec.device;
  for (std::size_t i = 0; i < like.size(); ++i) {
    const double slowdown = beside[i] ? *beside[i] / alone[i] - 1 : HUGE_VAL;
    if (slowdown <= worst) continue;
    worst = slowdown;
    worst_device = like[i].spec.device;
  }
  if (worst > Neighbours::kMostDisturbance) {
    found.note = std::isinf(worst)
                     ? fmt::format("trials run one after another: the defaults do not run on {} beside the others{}",
                                   worst_device, left_out)
                     : fmt::format(
                           "trials run one after another: {} is {:.1f} % slower when the others are at work "
                           "(limit {:g} %){}",
                           worst_device, 100 * worst, 100 * Neighbours::kMostDisturbance, left_out);
    return found;
  }
  found.lanes.clear();
  for (const auto& job : like) found.lanes.push_back(job.lane);
  found.note = fmt::format("trials are spread over {} GPUs, which slow each other down by at most {:.1f} %{}",
                           like.size(), 100 * worst, left_out);
  return found;
}

}  // namespace ridgeline::campaign
