// SPDX-License-Identifier: Apache-2.0
#include "campaign/trial_runner.hpp"

#include <limits>

#include "analysis/comparison.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kMostFlopsOnOneThread = 5e9;
constexpr std::int64_t kOutputSets = 2;  ///< of a reference: files with another number of sets have another key

}  // namespace

schema::TrialOutcome judged(schema::TrialOutcome outcome, double tolerance) {
  if (outcome.status != schema::TrialStatus::ok || !outcome.drift || tolerance <= 0) return outcome;
  if (auto fault = analysis::accuracy_fault(*outcome.drift, tolerance)) {
    outcome.status = schema::TrialStatus::rejected_accuracy;
    outcome.failure = schema::Failure{};
    outcome.failure->phase = schema::TrialPhase::verify;
    outcome.failure->message = std::move(*fault);
  }
  return outcome;
}

TrialRunner::TrialRunner(execute::Executor& executor, store::Store& store, const base::Clock& clock,
                         CampaignObserver& observer, const TuneRequest& request, TuneResult& result)
    : executor_(executor),
      store_(store),
      clock_(clock),
      observer_(observer),
      request_(request),
      result_(result),
      start_(clock.now()) {}

double TrialRunner::elapsed_s() const { return base::to_seconds(clock_.now() - start_); }

schema::TrialSpec TrialRunner::spec_for(const schema::Configuration& configuration) const {
  const auto& run = result_.run;
  schema::TrialSpec spec;
  spec.workload = run.workload;
  spec.provider = run.provider;
  spec.device = run.device;
  spec.runtime = run.runtime;
  spec.configuration = configuration;
  spec.plan = run.plan;
  spec.io = run.io;
  return spec;
}

schema::TrialSpec TrialRunner::reference_spec(const schema::Configuration& like) const {
  const auto& run = result_.run;
  const auto* batch = like.find("batch_size");
  const double flops = run.model.flops * (batch != nullptr ? batch->as_number(1) : 1);
  // Another device's kernels are the better witness, but one CPU thread must not take longer than the trials.
  const bool on_gpu = run.provider != "cpu" && (flops > kMostFlopsOnOneThread || flops <= 0);
  auto spec = spec_for(on_gpu ? request_.gpu_reference : request_.reference);
  // Outputs of another batch have another shape, so each batch has a reference of its own.
  if (batch != nullptr) spec.configuration.set("batch_size", *batch);
  spec.provider = on_gpu ? "cuda" : "cpu";
  spec.io = "host";
  spec.plan = {};
  spec.plan.runs = 0;   // sets its key apart from that of a timed trial
  spec.plan.max_runs = kOutputSets;
  return spec;
}

Result<std::filesystem::path> TrialRunner::reference_outputs(const schema::Configuration& like) {
  const auto spec = reference_spec(like);
  const auto key = spec.key();
  const auto path = request_.reference_folder / (key + ".outputs");
  std::error_code ignored;
  if (noise_.count(key) != 0 && std::filesystem::exists(path, ignored)) return path;

  if (request_.use_store && std::filesystem::exists(path, ignored)) {
    RL_TRY_ASSIGN(const auto known, store_.find_trial(key));
    if (known && known->outcome.drift) {
      noise_[key] = *known->outcome.drift;
      return path;
    }
  }
  std::filesystem::create_directories(request_.reference_folder, ignored);
  observer_.stage("reference outputs");
  const auto begun = clock_.now();
  RL_TRY_ASSIGN(const auto drift, executor_.make_reference(spec, path));
  if (drift.nonfinite > 0)
    return base::fail(ErrorCode::invalid_argument,
                      "{}: output \"{}\" holds {} NaN or Inf values with the inputs given; expected finite numbers: give "
                      "real inputs with --input NAME:FILE.npy, or skip the check with --accuracy-tolerance off",
                      result_.run.workload.location, drift.worst_output, drift.nonfinite);
  schema::TrialOutcome outcome;
  outcome.drift = drift;
  outcome.measured_utc = clock_.utc_now();
  outcome.duration_s = base::to_seconds(clock_.now() - begun);
  RL_TRY(store_.save_trial(spec, outcome));
  noise_[key] = drift;
  return path;
}

Result<void> TrialRunner::prepare_reference() {
  auto& run = result_.run;
  if (!request_.check_accuracy) return {};
  // A repeated run whose trials are all in the store needs the noise only, not the file.
  const auto spec = reference_spec(run.current);
  schema::AccuracyDrift noise;
  RL_TRY_ASSIGN(const auto known, store_.find_trial(spec.key()));
  if (request_.use_store && known && known->outcome.drift) {
    noise = *known->outcome.drift;
  } else {
    RL_TRY(reference_outputs(run.current));
    noise = noise_[spec.key()];
  }
  run.accuracy_tolerance = request_.accuracy_tolerance ? *request_.accuracy_tolerance
                                                       : analysis::default_tolerance(run.model, noise.scaled_max_abs);
  if (noise.tiny_outputs > 0) {
    run.notes.push_back(fmt::format("the accuracy check is weak: {} almost zero with the inputs given, so errors hide there; "
                                    "give real inputs with --input NAME:FILE.npy",
                                    noise.tiny_outputs == 1 ? "one output is" : fmt::format("{} outputs are", noise.tiny_outputs)));
    observer_.note(run.notes.back());
  }
  return {};
}

void TrialRunner::accept_default_numerics(const schema::AccuracyDrift& drift) {
  constexpr double kHeadroom = 2;      // other kernels of the same numerics round differently
  constexpr double kMostDrift = 0.05;  // beyond it the defaults themselves are broken, not merely less exact
  auto& run = result_.run;
  const double widened = kHeadroom * drift.scaled_max_abs;
  if (run.provider == "cpu" || request_.accuracy_tolerance || widened <= run.accuracy_tolerance || widened > kMostDrift) return;
  run.notes.push_back(fmt::format("the runtime's defaults (TF32 where the GPU has it) drift by {:.2g} from FP32, so up to {:.2g} is accepted; "
                                  "--accuracy-tolerance sets another limit", drift.scaled_max_abs, widened));
  observer_.note(run.notes.back());
  run.accuracy_tolerance = widened;
}

bool TrialRunner::answers(const schema::TrialOutcome& stored, std::optional<double> abandon_above) const {
  if (!stored.measurement) return true;
  if (request_.check_accuracy && stored.status == schema::TrialStatus::ok && !stored.drift) return false;
  if (stored.measurement->stop_reason != schema::StopReason::abandoned) return true;
  // Abandoned against a threshold of its time: good enough only when it loses against today's as well.
  return abandon_above && !stored.measurement->latency_ns.empty() &&
         analysis::cost_of(*stored.measurement, result_.run.objective).interval.low > *abandon_above;
}

Result<schema::TrialOutcome> TrialRunner::trial(const schema::Configuration& configuration, schema::TrialStage stage,
                                                const std::string& reason, std::optional<double> abandon_above,
                                                std::size_t remaining) {
  auto& run = result_.run;
  const auto spec = spec_for(configuration);
  schema::TunedTrial entry;
  entry.id = static_cast<int>(run.trials.size()) + 1;
  entry.stage = stage;
  entry.key = spec.key();
  entry.configuration = configuration;
  entry.started_s = elapsed_s();
  entry.reason = reason;
  observer_.trial_started(entry, remaining);

  std::optional<schema::TrialOutcome> outcome;
  if (request_.use_store) {
    RL_TRY_ASSIGN(auto stored, store_.find_trial(entry.key));
    if (stored && answers(stored->outcome, abandon_above)) {
      outcome = std::move(stored->outcome);
      entry.from_store = true;
    }
  }
  if (!outcome) {
    execute::TrialOptions options;
    options.abandon_above_ns = abandon_above;
    options.throughput = run.objective == schema::Objective::throughput;
    if (request_.check_accuracy) {
      RL_TRY_ASSIGN(options.reference_outputs, reference_outputs(configuration));
    }
    RL_TRY_ASSIGN(outcome, executor_.run_trial(spec, options));
    RL_TRY(store_.save_trial(spec, *outcome));
  }
  if (run.trials.empty() && outcome->drift) accept_default_numerics(*outcome->drift);
  auto verdict = judged(std::move(*outcome), run.accuracy_tolerance);
  result_.outcomes[entry.key] = verdict;
  run.trials.push_back(entry);
  RL_TRY(save_run(false));
  observer_.trial_finished(entry, verdict);
  return verdict;
}

Result<schema::TunedPair> TrialRunner::pair(schema::PairPurpose purpose, const schema::Configuration& a,
                                            const schema::Configuration& b, const std::string& setting,
                                            const schema::PairedPlan& plan) {
  auto& run = result_.run;
  const schema::PairedSpec spec{spec_for(a), b, plan};
  schema::TunedPair entry;
  entry.purpose = purpose;
  entry.key = spec.key();
  entry.a = a;
  entry.b = b;
  entry.setting = setting;

  std::optional<schema::PairedOutcome> outcome;
  if (request_.use_store) {
    RL_TRY_ASSIGN(auto stored, store_.find_pair(entry.key));
    if (stored && stored->outcome.status == schema::TrialStatus::ok) {
      outcome = std::move(stored->outcome);
      entry.from_store = true;
    }
  }
  if (!outcome) {
    RL_TRY_ASSIGN(outcome, executor_.run_pair(spec));
    RL_TRY(store_.save_pair(spec, *outcome));
  }
  entry.status = outcome->status;
  if (outcome->failure) entry.failure = outcome->failure->message;
  if (outcome->status == schema::TrialStatus::ok && outcome->measurement)
    entry.comparison = analysis::compare_paired(*outcome->measurement, run.objective, run.min_effect);
  result_.pairs[entry.key] = std::move(*outcome);
  run.pairs.push_back(entry);
  RL_TRY(save_run(false));
  observer_.pair_finished(entry);
  return entry;
}

Result<void> TrialRunner::save_run(bool forced) {
  const auto now = clock_.now();
  if (!forced && saved_ && now - *saved_ < base::from_seconds(1)) return {};
  saved_ = now;
  result_.run.duration_s = elapsed_s();
  return store_.save_run(result_.run);
}

}  // namespace ridgeline::campaign
