// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_trials.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/bench_answers.hpp"
#include "analysis/messages.hpp"

namespace ridgeline::campaign {

using base::Result;
using schema::BenchStage;
using schema::BenchTrial;
using schema::TrialStatus;

namespace {

constexpr double kMostAsideS = 10;  ///< timed part of a trial that is none of the run: there are many

bool refused(const schema::TrainingOutcome& outcome) { return outcome.status == TrialStatus::invalid; }

/// A stored outcome that another try would not change. Refused settings are not among them: the data set that was too
/// small may have grown.
bool answers_for_good(const schema::TrainingOutcome& outcome) {
  return outcome.status == TrialStatus::ok || outcome.status == TrialStatus::out_of_memory ||
         outcome.status == TrialStatus::unsupported;
}

/// Whether the trial, or the stability run, would have gone on with `limit_s` for its timed part.
bool needs_more_time(const schema::TrainingOutcome& outcome, const schema::TrainingPlan& plan, double limit_s) {
  constexpr double kAsLong = 0.9;
  const auto& measured = outcome.measurement;
  const auto done_steps = analysis::stability_steps_of(outcome);
  if (!measured || measured->steps == 0 || plan.is_met_by(*measured) || done_steps >= plan.max_steps) return false;
  const double kept_s = std::accumulate(measured->wall_ms.begin(), measured->wall_ms.end(), 0.0) * 1e-3;
  const double timed_s = kept_s * static_cast<double>(done_steps) / static_cast<double>(measured->steps);
  auto limited = plan;
  limited.max_time_s = kAsLong * limit_s;
  return timed_s < limited.max_time_s && !limited.is_hopeless(*measured, timed_s);
}

}  // namespace

BenchTrials::BenchTrials(execute::Executor& executor, store::Store& store, BenchObserver& observer,
                         const std::function<bool()>& cancelled, const BenchRequest& request, schema::BenchRun& run)
    : executor_(executor),
      store_(store),
      observer_(observer),
      cancelled_(cancelled),
      request_(request),
      run_(run),
      budget_(executor.clock(), request.max_time),
      frame_(store, executor.clock(), budget_, run_, schema::shell_line(request.arguments)),
      spread_(executor, budget_, interference_check()) {
  budget_.exclude_from_budget(-request.spent_before_s);
}

Result<void> BenchTrials::end() {
  if (auto note = spread_.note(); !note.empty()) run_.notes.push_back(std::move(note));
  return frame_.end();
}

bool BenchTrials::all_refused() const {
  return !run_.trials.empty() && std::all_of(run_.trials.begin(), run_.trials.end(),
                                             [](const BenchTrial& trial) { return refused(trial.outcome); });
}

bool BenchTrials::stability_run_before(const BenchTrial& trial, const schema::TrainingPlan& plan) {
  if (!request_.use_store) return false;
  const auto stored = store_.find_outcome<schema::TrainingOutcome>(spec_of(trial, plan).key());
  return stored && *stored && answers_for_good(**stored) && !cut(trial, plan, **stored);
}

bool BenchTrials::cut(const BenchTrial& trial, const schema::TrainingPlan& plan,
                      const schema::TrainingOutcome& outcome) {
  return trial.stage == BenchStage::stability_run && outcome.status == TrialStatus::ok &&
         analysis::stability_steps_of(outcome) < plan.steps;
}

schema::Message BenchTrials::why_cut(double limit_s, const schema::TrainingPlan& plan) const {
  if (limit_s >= plan.max_time_s)
    return analysis::messages::bench_stability_at_most({.unasked = false, .most_s = plan.max_time_s});
  if (request_.short_stability_s && limit_s >= *request_.short_stability_s)
    return analysis::messages::bench_stability_at_most({.unasked = true, .most_s = limit_s});
  return analysis::messages::bench_max_time_up();
}

schema::TrainingTrialSpec BenchTrials::spec_of(const BenchTrial& trial, const schema::TrainingPlan& plan) const {
  schema::TrainingTrialSpec spec;
  spec.job = request_.job;
  spec.device = request_.device;
  spec.device_id = request_.device_id;
  spec.settings = trial.settings;
  spec.data = trial.data;
  spec.plan = plan;
  spec.repeat = trial.repeat;
  return spec;
}

Result<schema::TrainingOutcome> BenchTrials::make(BenchTrial trial, const schema::TrainingPlan& plan,
                                                  std::size_t remaining, std::optional<double> time_s) {
  std::vector<BenchTrial> trials;
  trials.push_back(std::move(trial));
  RL_TRY_ASSIGN(auto outcomes, make_all(std::move(trials), plan, remaining, time_s));
  return std::move(outcomes.front());
}

Result<std::vector<schema::TrainingOutcome>> BenchTrials::make_all(std::vector<BenchTrial> trials,
                                                                   const schema::TrainingPlan& plan,
                                                                   std::size_t remaining,
                                                                   std::optional<double> time_s) {
  RL_TRY(check_cancelled(cancelled_));
  const double limit_s = std::min(plan.max_time_s, time_s.value_or(plan.max_time_s));
  Spread::Steps<BenchTrial> steps;
  steps.begin = [&](BenchTrial& trial, std::size_t n) -> Result<std::optional<schema::TrainingOutcome>> {
    frame_.place(trial, spec_of(trial, plan).key(), n);
    std::optional<schema::TrainingOutcome> stored;
    if (request_.use_store) {
      RL_TRY_ASSIGN(stored, store_.find_outcome<schema::TrainingOutcome>(trial.key));
    }
    trial.cached = stored && answers_for_good(*stored) && !needs_more_time(*stored, plan, limit_s);
    observer_.trial_started(trial, remaining);
    if (!trial.cached) stored.reset();
    return stored;
  };
  steps.job = [&](const BenchTrial& trial, std::size_t slot) {
    auto spec = spec_of(trial, plan);
    spec.plan.max_time_s = limit_s;
    return execute::training_job(spec, slot);
  };
  steps.keep = [&](BenchTrial& trial, const execute::JobAnswer& answer) -> Result<void> {
    RL_TRY_ASSIGN(trial.outcome, execute::training_outcome(answer));
    if (refused(trial.outcome)) return {};
    return store_.save_outcome(store::kTrainingKind, trial.key, spec_of(trial, plan), trial.outcome);
  };
  steps.finish = [&](BenchTrial trial) -> Result<void> {
    if (cut(trial, plan, trial.outcome)) analysis::mark_cut_stability_run(trial, plan.steps, why_cut(limit_s, plan));
    observer_.trial_finished(trial);
    run_.trials.push_back(std::move(trial));
    // Maybe bad input, which leaves no file behind.
    return all_refused() ? Result<void>() : frame_.save_when_due();
  };
  return spread_.make(std::move(trials), remaining, steps);
}

Result<schema::TrainingOutcome> BenchTrials::measure_aside(const schema::TrainingSettings& settings,
                                                           const std::map<std::string, std::string>& options,
                                                           int repeat) {
  RL_TRY(check_cancelled(cancelled_));
  auto plan = request_.plan;
  plan.max_time_s = std::min(plan.max_time_s, kMostAsideS);
  auto spec = spec_of({.settings = settings, .repeat = repeat}, plan);
  for (const auto& [name, value] : options) spec.job.options[name] = value;
  const auto key = spec.key();
  if (request_.use_store) {
    RL_TRY_ASSIGN(auto stored, store_.find_outcome<schema::TrainingOutcome>(key));
    if (stored && answers_for_good(*stored)) return std::move(*stored);
  }
  RL_TRY_ASSIGN(auto outcome, execute::run_training(executor_, spec));
  if (!refused(outcome)) RL_TRY(store_.save_outcome(store::kTrainingKind, key, spec, outcome));
  return outcome;
}

Spread::Check BenchTrials::interference_check() {
  Spread::Check check;
  check.job = [this](std::size_t slot) {
    BenchTrial trial;
    const auto points = analysis::bench_points(run_);
    if (request_.current)
      trial.settings = *request_.current;
    else if (!points.empty())
      trial.settings = points.front().settings;
    return execute::training_job(spec_of(trial, request_.plan), slot);
  };
  check.cost = [](const execute::JobAnswer& answer) -> Result<std::optional<double>> {
    RL_TRY_ASSIGN(const auto outcome, execute::training_outcome(answer));
    return outcome.measurement ? std::optional(1 / outcome.measurement->samples_per_s.value) : std::nullopt;
  };
  return check;
}

}  // namespace ridgeline::campaign
