// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/accuracy_reference.hpp"

#include <system_error>

#include "analysis/comparison.hpp"
#include "campaign/tune/input_checks.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kMostFlopsOnOneThread = 5e9;
constexpr std::int64_t kOutputSets = 2;  // of a reference: files with another number of sets have another key

}  // namespace

base::Error out_of_time_in(base::Error error, std::string_view what) {
  return error.code == ErrorCode::out_of_time ? std::move(error).in(what) : std::move(error);
}

schema::TrialSpec AccuracyReference::spec_for(const schema::TrialSpec& like) const {
  const auto& run = result_.run;
  const auto* batch = like.configuration.find("batch_size");
  const double flops = run.model.flops * (batch != nullptr ? batch->as_number(1) : 1);
  // Another device's kernels are the better witness, but one CPU thread must not take longer than the trials.
  const auto& witness = schema::plain_provider_of(run.provider);
  const bool on_gpu = witness.on_gpu() && (flops > kMostFlopsOnOneThread || flops <= 0);
  auto spec = like;
  spec.configuration = on_gpu ? request_.gpu_reference : request_.reference;
  spec.device = run.device;
  // One reference for all candidates.
  spec.workload = run.workload;
  spec.runtime = run.runtime;
  spec.plugin.reset();
  // Outputs of another batch have another shape, so each batch has a reference of its own.
  if (batch != nullptr) spec.configuration.set("batch_size", *batch);
  spec.provider = on_gpu ? witness.id : schema::cpu_provider_beside(run.provider).id;
  spec.tensor_location = "host";
  spec.plan = {};
  spec.plan.runs = 0;  // sets its key apart from that of a timed trial
  spec.plan.max_runs = kOutputSets;
  return spec;
}

Result<std::filesystem::path> AccuracyReference::outputs(const schema::TrialSpec& like,
                                                         const execute::TimeLeft& time_left) {
  const auto spec = spec_for(like);
  const auto key = spec.key();
  const auto path = request_.reference_folder / (key + ".outputs");
  std::error_code ignored;
  if (noise_.count(key) != 0 && std::filesystem::exists(path, ignored)) return path;

  if (request_.use_store && std::filesystem::exists(path, ignored)) {
    RL_TRY_ASSIGN(const auto known, store_.find_trial(key));
    if (known && known->outcome.output_error) {
      noise_[key] = *known->outcome.output_error;
      return path;
    }
  }
  std::filesystem::create_directories(request_.reference_folder, ignored);
  observer_.stage("reference outputs");
  const auto begun = clock_.now();
  RL_TRY_ASSIGN(const auto output_error,
                execute::make_reference(executor_, spec, path, time_left).map_error([](auto error) {
                  return out_of_time_in(std::move(error), "the reference outputs");
                }));
  if (output_error.nonfinite > 0) return tl::unexpected(nonfinite_outputs(result_.run.workload, path, output_error));
  schema::TrialOutcome outcome;
  outcome.output_error = output_error;
  outcome.measured_utc = clock_.utc_now();
  outcome.duration_s = base::to_seconds(clock_.now() - begun);
  RL_TRY(store_.save_trial(spec, outcome));
  noise_[key] = output_error;
  return path;
}

Result<void> AccuracyReference::prepare(const schema::TrialSpec& current, const execute::TimeLeft& time_left) {
  auto& run = result_.run;
  if (!request_.check_accuracy) return {};
  // A repeated run whose trials are all in the store needs the noise only, not the file.
  const auto spec = spec_for(current);
  schema::OutputError noise;
  RL_TRY_ASSIGN(const auto known, store_.find_trial(spec.key()));
  if (request_.use_store && known && known->outcome.output_error) {
    noise = *known->outcome.output_error;
  } else {
    RL_TRY(outputs(current, time_left));
    noise = noise_[spec.key()];
  }
  run.accuracy_tolerance = request_.accuracy_tolerance ? *request_.accuracy_tolerance
                                                       : analysis::default_tolerance(run.model, noise.scaled_max_abs);
  if (noise.tiny_outputs > 0) {
    context_.note(
        fmt::format("the accuracy check is weak: {} almost zero with the inputs given, so errors hide there; "
                    "give real inputs with --input NAME:FILE.npy",
                    noise.tiny_outputs == 1 ? "one output is" : fmt::format("{} outputs are", noise.tiny_outputs)));
  }
  return {};
}

void AccuracyReference::accept_default_numerics(const schema::OutputError& output_error) {
  constexpr double kHeadroom = 2;            // other kernels of the same numerics round differently
  constexpr double kMostOutputError = 0.05;  // beyond it the defaults themselves are broken, not merely less exact
  auto& run = result_.run;
  const double widened = kHeadroom * output_error.scaled_max_abs;
  // A check that is off stays off, also where the store knows the output error from a run that had one.
  if (!request_.check_accuracy || request_.accuracy_tolerance || !run.on_gpu()) return;
  if (widened <= run.accuracy_tolerance || widened > kMostOutputError) return;
  context_.note(fmt::format(
      "the runtime's defaults (TF32 where the GPU has it) differ by {:.2g} from FP32, so up to {:.2g} is accepted; "
      "--accuracy-tolerance sets another limit",
      output_error.scaled_max_abs, widened));
  run.accuracy_tolerance = widened;
}

}  // namespace ridgeline::campaign
