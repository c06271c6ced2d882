// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/trial_runner.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "analysis/accuracy.hpp"
#include "analysis/comparison.hpp"
#include "analysis/device_learning.hpp"
#include "analysis/summary.hpp"
#include "campaign/fitting_lengths.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/stored_failure.hpp"
#include "execute/deadline.hpp"
#include "schema/messages.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

/// Of the reference, whose session is there: as short as a median of some per cent allows.
const schema::MeasurementPlan kReadingPlan{.warmup_runs = 1,
                                           .warmup_max_s = 0.05,
                                           .runs = std::nullopt,
                                           .min_runs = 3,
                                           .min_time_s = 0.08,
                                           .max_time_s = 0.6,
                                           .target_interval_ratio = 0.01};
constexpr int kPairsAhead = 3;  // of sessions of a comparison
constexpr std::string_view kDefaults = "the runtime's defaults";

std::string name_of(const schema::Configuration& configuration) {
  return configuration.empty() ? std::string(kDefaults) : configuration.to_text();
}

/// Of a trial that its share of --max-time ended.
void name_share(schema::TrialOutcome& outcome, double share_s, double limit_s) {
  if (outcome.status != schema::TrialStatus::timeout || !outcome.failure || share_s <= 0) return;
  if (outcome.duration_s < share_s) return;  // it stood still for too long before that
  outcome.failure->message = messages::share_of_time_over(
      {.share_s = share_s, .phase = std::string(base::enum_name(outcome.failure->phase)), .limit_s = limit_s});
}

}  // namespace

bool lacks_time(const schema::PairedOutcome& outcome) {
  return outcome.measurement && schema::has_flag(outcome.measurement->flags, "few_rounds");
}

schema::TrialOutcome judged(schema::TrialOutcome outcome, const schema::TuneRun& run) {
  if (outcome.status != schema::TrialStatus::ok) return outcome;
  if (auto note = analysis::tf32_note(run, outcome))
    schema::add_flag(outcome, {schema::FlagLevel::notice, "tf32", std::move(*note)});
  if (auto fault = analysis::accuracy_fault(run, outcome)) {
    outcome.status = schema::TrialStatus::rejected_accuracy;
    outcome.failure = schema::Failure{};
    outcome.failure->phase = schema::TrialPhase::verify;
    outcome.failure->message = std::move(*fault);
  }
  return outcome;
}

void TrialRunner::want_from_start(std::vector<schema::Configuration> foreseen) {
  ahead_.want_from_start(reference_.needed(spec_for(result_.run.current)), std::move(foreseen));
}

Result<void> TrialRunner::prepare_reference() {
  auto& run = result_.run;
  auto asked = run.workload;
  asked.shapes = request_.workload.shapes;
  RL_TRY_ASSIGN(auto model, with_fitting_lengths(executor_, {asked, request_.ort_library}, run.workload, [&] {
                  return reference_.prepare(spec_for(run.current), budget_.time_left(0, 0));
                }));
  if (!model) return {};
  run.model = *std::move(model);
  for (const auto& note : run.model.shape_notes) context_.note(note);
  return {};
}

Result<void> TrialRunner::check_inputs() {
  const auto& run = result_.run;
  if (request_.check_accuracy || run.trials.empty()) return {};
  const auto& first = run.trials.front();
  switch (result_.outcomes[first.key].status) {
    case schema::TrialStatus::failed:
    case schema::TrialStatus::crashed:
    case schema::TrialStatus::invalid:
      return reference_.check_inputs(spec_for(first.configuration), budget_.time_left(0, 0));
    default: return {};
  }
}

schema::TrialSpec TrialRunner::spec_for(const schema::Configuration& configuration) const {
  return campaign::spec_for(result_.run, configuration);
}

bool TrialRunner::failure_stands(const store::StoredTrial& stored) {
  if (fails_again(stored, result_.run.environment)) return true;
  const auto key = stored.spec.key();
  if (result_.outcomes.count(key) != 0) return true;
  // Where it cannot be read, the trial is merely made again.
  if (!of_interrupted_) of_interrupted_ = trials_of_interrupted(store_, result_.run).value_or(std::set<std::string>());
  return of_interrupted_->count(key) != 0;
}

bool TrialRunner::answers(const store::StoredTrial& trial, std::optional<double> stop_above) {
  const auto& stored = trial.outcome;
  if (!stored.measurement) return failure_stands(trial);
  if (request_.check_accuracy && stored.status == schema::TrialStatus::ok && !is_compared(stored)) return false;
  if (stored.measurement->stop_reason != schema::StopReason::stopped_early) return true;
  // Stopped early against a threshold of its time: good enough only when it loses against today's as well. By its cost,
  // as the race's interval is not this one: against the same threshold it has to lose again.
  return stop_above && !stored.measurement->latency_ns.empty() &&
         analysis::cost_of(*stored.measurement, result_.run.request.objective).value > *stop_above;
}

bool TrialRunner::is_compared(const schema::TrialOutcome& stored) const {
  if (!stored.output_error) return false;
  if (result_.run.call_variation && !stored.output_error->spread) return false;
  const auto& gate = result_.run.accuracy_gate;
  return !gate || !gate->reference_metric || stored.output_error->metric || stored.output_error->metric_not_finite;
}

std::vector<std::string> TrialRunner::devices() const {
  const auto& run = result_.run;
  std::vector<std::string> devices{run.device};
  const auto& gpus = run.environment.gpus;
  if (!run.on_gpu()) return devices;
  for (std::size_t slot = 1; slot < std::min(gpus.size(), executor_.slots().size()); ++slot)
    devices.push_back("gpu:" + gpus[slot].uuid);
  return devices;
}

std::vector<std::size_t> TrialRunner::admitted() const {
  return interference_ ? interference_->slots : std::vector<std::size_t>{0};
}

std::size_t TrialRunner::device_slots() const { return interference_ ? interference_->slots.size() : devices().size(); }

Result<schema::TrialOutcome> TrialRunner::trial(const schema::Configuration& configuration, schema::TrialStage stage,
                                                const schema::Message& reason, std::optional<double> stop_above,
                                                std::size_t remaining) {
  RL_TRY_ASSIGN(auto outcomes, trials({{configuration, stage, reason, stop_above}}, remaining));
  return std::move(outcomes.front());
}

Result<std::vector<schema::TrialOutcome>> TrialRunner::trials(const std::vector<search::Proposal>& proposals,
                                                              std::size_t remaining) {
  std::vector<PendingTrial> pending;
  for (const auto& proposal : proposals) {
    RL_TRY_ASSIGN(auto trial, begin(proposal, pending.size(), remaining));
    pending.push_back(std::move(trial));
  }
  auto measured = measure(pending);
  std::vector<schema::TrialOutcome> verdicts;
  for (auto& trial : pending) {
    if (!trial.outcome) break;
    RL_TRY_ASSIGN(auto verdict, finish(std::move(trial)));
    verdicts.push_back(std::move(verdict));
  }
  if (!measured) return tl::unexpected<base::Error>(std::move(measured).error());
  return verdicts;
}

Result<bool> TrialRunner::retake(std::size_t at, std::optional<double> stop_above) {
  std::vector<PendingTrial> pending(1);
  auto& trial = pending.front();
  trial.entry = result_.run.trials[at];
  trial.spec = spec_for(trial.entry.configuration);
  trial.limit = stop_above;
  trial.options.throughput = result_.run.request.objective == schema::Objective::throughput;
  RL_TRY(measure(pending));
  auto verdict = judged(std::move(*trial.outcome), result_.run);
  if (verdict.status != schema::TrialStatus::ok) return false;
  auto& entry = result_.run.trials[at];
  entry.key = trial.spec.key();
  entry.device = trial.spec.device == result_.run.device ? "" : trial.spec.device;
  entry.started_s = trial.entry.started_s;
  entry.cached = false;
  ++entry.takes;
  result_.outcomes[entry.key] = std::move(verdict);
  RL_TRY(context_.frame.save_when_due());
  return true;
}

schema::SpeedReading TrialRunner::reading_of(const schema::TunedTrial& trial,
                                             const schema::TrialOutcome& outcome) const {
  const auto& measurement = *outcome.measurement;
  const auto objective = result_.run.request.objective == schema::Objective::p99 ? schema::Objective::latency
                                                                                 : result_.run.request.objective;
  const auto cost = analysis::cost_of(measurement, objective);
  const double middle_s = trial.started_s + outcome.duration_s - measurement.wall_ns * 1e-9 / 2;
  return {middle_s, cost.value, cost.interval.low, cost.interval.high};
}

Result<std::vector<std::pair<std::string, schema::SpeedReading>>> TrialRunner::read_speed(
    const schema::Configuration& configuration) {
  const auto devices = this->devices();
  std::vector<execute::TrialJob> jobs;
  for (const auto slot : admitted()) {
    execute::TrialJob job;
    job.slot = slot;
    job.spec = spec_for(configuration);
    job.spec.device = devices[slot];
    job.spec.plan = kReadingPlan;
    job.options.throughput = result_.run.request.objective == schema::Objective::throughput;
    job.options.time_left = budget_.time_left(budget_.pair_reserve_s(), 0);
    // The session stays, where that costs nothing but memory, and not much of it.
    job.options.apart = !result_.run.on_gpu() &&
                        result_.run.model.parameter_bytes < result_.run.environment.memory_available_bytes / 16;
    job.options.keep_session = job.options.apart;
    jobs.push_back(std::move(job));
  }
  schema::TunedTrial entry;
  entry.started_s = budget_.elapsed_s();
  auto outcomes = execute::run_trials(executor_, jobs);
  std::vector<std::pair<std::string, schema::SpeedReading>> readings;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!outcomes[i])
      return tl::unexpected<base::Error>(
          out_of_time_in(std::move(outcomes[i]).error(), fmt::format("timing {} again", name_of(configuration))));
    const auto& outcome = *outcomes[i];
    if (outcome.status == schema::TrialStatus::ok && outcome.measurement && !outcome.measurement->latency_ns.empty())
      readings.emplace_back(jobs[i].spec.device, reading_of(entry, outcome));
  }
  return readings;
}

Result<std::string> TrialRunner::measure_isolated(const schema::Configuration& configuration, double least_s,
                                                  std::string_view what) {
  auto spec = spec_for(configuration);
  spec.isolated = true;
  spec.plan.min_time_s = std::max(spec.plan.min_time_s, least_s);
  spec.plan.max_time_s = std::max(spec.plan.max_time_s, spec.plan.min_time_s);
  auto key = spec.key();
  RL_TRY_ASSIGN(auto stored, store_.find_trial(key));
  if (request_.use_store && stored && (stored->outcome.measurement || failure_stands(*stored))) {
    result_.outcomes[key] = std::move(stored->outcome);
    return key;
  }
  observer_.stage(fmt::format("{} alone in a process", what));
  execute::TrialOptions options;
  options.throughput = result_.run.request.objective == schema::Objective::throughput;
  options.time_left = budget_.time_left(0, 0);
  RL_TRY_ASSIGN(auto outcome, execute::run_trial(executor_, spec, options));
  RL_TRY(store_.save_trial(spec, outcome));
  result_.outcomes[key] = std::move(outcome);
  return key;
}

Result<TrialRunner::PendingTrial> TrialRunner::begin(const search::Proposal& proposal, std::size_t place,
                                                     std::size_t remaining) {
  PendingTrial trial;
  trial.spec = spec_for(proposal.configuration);
  trial.limit = proposal.stop_above;
  trial.remaining = remaining;
  trial.options.throughput = result_.run.request.objective == schema::Objective::throughput;
  auto& entry = trial.entry;
  entry.id = static_cast<int>(result_.run.trials.size() + place) + 1;
  entry.stage = proposal.stage;
  entry.configuration = proposal.configuration;
  entry.started_s = budget_.elapsed_s();
  entry.reason = proposal.reason;
  observer_.trial_started(entry, remaining);
  RL_TRY(take_stored(trial, admitted()));
  return trial;
}

Result<std::optional<store::StoredTrial>> TrialRunner::find_stored(const PendingTrial& trial,
                                                                   const std::vector<std::size_t>& slots) {
  if (!request_.use_store) return std::nullopt;
  const auto devices = this->devices();
  const bool has_own_device = !schema::candidate_of(trial.entry.configuration).empty();
  for (const auto slot : slots) {
    auto spec = trial.spec;
    if (!has_own_device) spec.device = devices[slot];
    RL_TRY_ASSIGN(auto known, store_.find_trial(spec.key()));
    if (known && answers(*known, trial.limit)) return store::StoredTrial{std::move(spec), std::move(known->outcome)};
  }
  return std::nullopt;
}

Result<void> TrialRunner::take_stored(PendingTrial& trial, const std::vector<std::size_t>& slots) {
  RL_TRY_ASSIGN(auto known, find_stored(trial, slots));
  if (!known) return {};
  trial.spec = std::move(known->spec);
  trial.outcome = std::move(known->outcome);
  trial.entry.cached = true;
  trial.entry.started_s = budget_.elapsed_s();
  return {};
}

Result<void> TrialRunner::check_interference_once(std::vector<PendingTrial>& trials) {
  const auto devices = this->devices();
  if (interference_ || devices.size() < 2 || trials.size() < 2) return {};
  std::vector<PendingTrial*> open;
  for (auto& trial : trials)
    if (!trial.outcome) open.push_back(&trial);
  if (open.empty()) return {};
  if (open.size() == 1) {
    // One is quickly measured on slot 0; of a run that is repeated over two GPUs it is every second one.
    std::vector<std::size_t> slots(devices.size());
    std::iota(slots.begin(), slots.end(), 0);
    RL_TRY_ASSIGN(const auto known, find_stored(*open.front(), slots));
    if (!known) return {};
  }
  observer_.stage("do the GPUs disturb each other");
  std::vector<schema::TrialSpec> specs(devices.size(), open.front()->spec);
  for (std::size_t slot = 0; slot < specs.size(); ++slot) {
    specs[slot].device = devices[slot];
    specs[slot].configuration =
        result_.run.trials.empty() ? open.front()->spec.configuration : result_.run.trials.front().configuration;
  }
  const auto left = [this, reserve_s = budget_.pair_reserve_s()] { return budget_.time_left(reserve_s, 0); };
  auto found = check_trial_interference(executor_, specs, result_.run.request.objective, left);
  if (!found) return tl::unexpected(out_of_time_in(std::move(found).error(), "how much the GPUs disturb each other"));
  interference_ = std::move(*found);
  context_.note(interference_->note);
  for (auto* trial : open) RL_TRY(take_stored(*trial, admitted()));
  return {};
}

Result<void> TrialRunner::measure(std::vector<PendingTrial>& trials) {
  RL_TRY(check_interference_once(trials));
  std::vector<PendingTrial*> open;
  for (auto& trial : trials)
    if (!trial.outcome) open.push_back(&trial);
  if (request_.check_accuracy)
    for (auto* trial : open) {
      RL_TRY_ASSIGN(trial->options.reference_outputs, reference_.outputs(trial->spec, budget_.time_left(0, 0)));
    }
  const auto devices = this->devices();
  const auto slots = admitted();
  for (std::size_t at = 0; at < open.size(); at += slots.size()) {
    std::vector<execute::TrialJob> jobs;
    // What hangs must not take the time of the comparison either.
    const double pair_s = budget_.pair_reserve_s();
    for (std::size_t i = at; i < std::min(at + slots.size(), open.size()); ++i) {
      const auto slot = slots[i - at];
      if (schema::candidate_of(open[i]->entry.configuration).empty()) open[i]->spec.device = devices[slot];
      open[i]->options.time_left = budget_.time_left(pair_s, 0);
      if (const auto most_s = budget_.trial_limit_s(open[i]->entry.configuration, open[i]->remaining))
        open[i]->options.deadline_s =
            std::min(*most_s, execute::derived_deadline_s(open[i]->spec.plan, open[i]->spec.provider));
      open[i]->options.stop_above_ns = open[i]->limit;
      if (open[i]->limit) *open[i]->options.stop_above_ns *= allowance_(devices[slot]);
      open[i]->entry.started_s = budget_.elapsed_s();
      jobs.push_back({slot, open[i]->spec, open[i]->options});
    }
    auto outcomes = execute::run_trials(executor_, jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (outcomes[i]) {
        name_share(*outcomes[i], jobs[i].options.deadline_s, budget_.limit_s());
        RL_TRY(store_.save_trial(jobs[i].spec, *outcomes[i]));
        open[at + i]->outcome = std::move(*outcomes[i]);
      }
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (!outcomes[i])
        return tl::unexpected<base::Error>(
            out_of_time_in(std::move(outcomes[i]).error(), name_of(jobs[i].spec.configuration)));
  }
  return {};
}

Result<schema::TrialOutcome> TrialRunner::finish(PendingTrial trial) {
  auto& run = result_.run;
  trial.entry.key = trial.spec.key();
  if (trial.spec.device != run.device) trial.entry.device = trial.spec.device;
  if (run.trials.empty() && trial.outcome->output_error)
    reference_.accept_default_numerics(*trial.outcome->output_error);
  auto verdict = judged(std::move(*trial.outcome), run);
  result_.outcomes[trial.entry.key] = verdict;
  run.trials.push_back(trial.entry);
  RL_TRY(context_.frame.save_when_due());
  observer_.trial_finished(trial.entry, verdict);
  return verdict;
}

Result<schema::TunedPair> TrialRunner::pair(schema::PairPurpose purpose, const schema::Configuration& a,
                                            const schema::Configuration& b, const std::string& setting,
                                            const schema::PairedPlan& asked, bool again) {
  auto& run = result_.run;
  const auto plan = budget_.with_rounds_by_cost(asked, a, b);
  schema::PairedSpec spec{spec_for(a), schema::without_candidate(b), plan};
  if (schema::candidate_of(a) != schema::candidate_of(b)) spec.across = spec_for(b);
  // No winner rests on a used process unless it has to be there in seconds; what only explains one may, because
  // starting CUDA takes long.
  spec.fresh_process = purpose == schema::PairPurpose::finalist && request_.fresh_finals;
  schema::TunedPair entry;
  entry.purpose = purpose;
  entry.key = spec.key();
  entry.a = a;
  entry.b = b;
  entry.setting = setting;

  std::optional<schema::PairedOutcome> outcome;
  if (request_.use_store && !again) {
    RL_TRY_ASSIGN(auto stored, store_.find_pair(entry.key));
    if (stored && stored->outcome.status == schema::TrialStatus::ok && !lacks_time(stored->outcome)) {
      outcome = std::move(stored->outcome);
      entry.cached = true;
    }
  }
  if (!outcome) {
    if (purpose == schema::PairPurpose::finalist) ahead_.want_program(b);
    ahead_.want_pair(a, b, std::clamp(plan.max_rounds, 1, kPairsAhead));
    const double usual_s = budget_.is_binding() ? budget_.expected_pair_s(plan, spec.fresh_process, a, b) : 0;
    RL_TRY_ASSIGN(
        outcome, execute::run_pair(executor_, spec, budget_.time_left(0, 2 * usual_s)).map_error([&](auto error) {
          return out_of_time_in(std::move(error), fmt::format("comparing {} with {}", name_of(b), name_of(a)));
        }));
    RL_TRY(store_.save_pair(spec, *outcome));
  }
  entry.status = outcome->status;
  if (outcome->failure) entry.failure = outcome->failure->message;
  if (outcome->status == schema::TrialStatus::ok && outcome->measurement)
    entry.comparison = analysis::compare_paired(*outcome->measurement, run.request.objective, run.request.min_effect,
                                                run.on_gpu() ? analysis::session_stdev(result_.learned) : 0);
  if (outcome->measurement) entry.flags = outcome->measurement->flags;
  result_.pairs[entry.key] = std::move(*outcome);
  run.pairs.push_back(entry);
  RL_TRY(context_.frame.save_when_due());
  observer_.pair_finished(entry);
  return entry;
}

}  // namespace ridgeline::campaign
