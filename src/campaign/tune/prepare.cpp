// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/prepare.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/version.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/candidates.hpp"
#include "campaign/tune/device_memory.hpp"
#include "campaign/tune/input_checks.hpp"
#include "campaign/tune/space.hpp"
#include "campaign/tune/trials_ahead.hpp"
#include "execute/provider_choice.hpp"
#include "execute/worker_environment.hpp"
#include "measure/gpu_plans.hpp"
#include "schema/messages.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kPairShare = 0.15;  // the most for the blocks of one comparison on a CPU; its sessions take as long
constexpr double kPairShareOnGpu = 0.1;  // on a GPU, where head-to-head comparisons come before it
constexpr double kPairShareInShort = 0.02;
constexpr double kTrialShareOnGpu = 0.01;  // of all, for warming up in one trial, and for timing it
constexpr double kWarmUpShare = 0.25;      // of a comparison's time, for each arm

/// A quick search on a GPU has ten seconds: no time for fresh processes, nor for a second pair of sessions, so that a
/// difference of the 2 % by which sessions of one configuration differ may be chance.
void apply_gpu_defaults(TuneRequest& request, TuneBudget& budget) {
  measure::apply_gpu_defaults(request.plan, request.paired);
  if (std::any_of(request.constraints.begin(), request.constraints.end(),
                  [](const auto& constraint) { return constraint.metric == "gpu_energy_mj_per_item"; })) {
    request.plan.min_time_s = std::max(request.plan.min_time_s, measure::kEnergyWindowS);
    request.plan.max_time_s = std::max(request.plan.max_time_s, measure::kEnergyWindowS);
  }
  auto& plan = request.paired;
  request.finalists = std::min<std::size_t>(request.finalists, 2);
  if (budget.is_short()) {  // of others the plans are alike, so that a longer run knows what a shorter one measured
    const double most_s = kTrialShareOnGpu * budget.limit_s();
    request.plan.warmup_max_s = std::min(request.plan.warmup_max_s, most_s);
    request.plan.max_time_s = std::max(request.plan.min_time_s, std::min(request.plan.max_time_s, most_s));
    request.paired.warmup.warmup_max_s = std::min(request.paired.warmup.warmup_max_s, most_s);
  }
  if (request.search != "quick" && !budget.is_short()) {
    plan.max_time_s = std::min(plan.max_time_s, kPairShareOnGpu * budget.limit_s());
    return;
  }
  plan.rounds = plan.max_rounds = 1;
  request.leave_one_out = false;
  request.fresh_finals = false;
  if (budget.is_short() && !budget.is_very_short()) {
    plan.max_time_s = std::min(plan.max_time_s, kPairShareInShort * budget.limit_s());
    return;
  }
  plan.abba_rounds = std::min(plan.abba_rounds, 8);
  plan.max_abba_rounds = std::min(plan.max_abba_rounds, 12);
  plan.max_time_s = std::min(plan.max_time_s, 1.5);
  request.finalists = 1;
  if (budget.is_short()) return;
  if (!budget.is_limited()) budget.set_limit(std::chrono::seconds(10));
}

/// A comparison goes on for as long as an uneven machine asks for; within --max-time it has to leave some to the
/// others.
void suit_time(schema::PairedPlan& paired, const TuneBudget& budget) {
  if (!budget.is_limited()) return;
  const double most_s = kPairShare * budget.limit_s();
  paired.max_time_s = std::min(paired.max_time_s, most_s);
  paired.min_samples_time_s = std::min(paired.min_samples_time_s, most_s);
  paired.min_time_s = std::min(paired.min_time_s, paired.max_time_s / 2);
  // On an uneven machine times are never steady, and each arm would warm up for as long as it may.
  paired.warmup.warmup_max_s = std::min(paired.warmup.warmup_max_s, kWarmUpShare * paired.max_time_s);
}

/// Which dimensions of the model's inputs are symbolic.
std::map<std::string, std::vector<std::string>> symbolic_dimensions(const schema::ModelDescription& model) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& input : model.inputs)
    if (std::any_of(input.dim_names.begin(), input.dim_names.end(), [](const auto& name) { return !name.empty(); }))
      names[input.name] = input.dim_names;
  return names;
}

Result<void> hash_input_files(schema::WorkloadRef& workload) {
  for (auto& file : workload.input_files) {
    auto hash = base::sha256_file(file.path);
    if (!hash)
      return base::fail(hash.error().code, "--input {}:{}: {}; expected a file written by numpy.save", file.name,
                        file.path, hash.error().message);
    file.sha256 = std::move(*hash);
  }
  return {};
}

/// What is known of the run before anything was looked at.
/// The user's --max-time did not suffice for what comes before the first trial.
base::Error late(base::Error error, const RunContext& context, const std::string& doing) {
  if (error.code != ErrorCode::out_of_time) return error;
  return {ErrorCode::invalid_argument,
          fmt::format("--max-time of {:.3g} s was over while {}: {}", context.budget.limit_s(), doing, error.message),
          "give it more time"};
}

base::Error late_model(base::Error error, const RunContext& context) {
  const bool is_late = error.code == ErrorCode::out_of_time;
  const bool is_code = context.request.workload.kind == workload::kPythonKind;
  auto out =
      late(std::move(error), context,
           fmt::format("{} {}", is_code ? "importing and calling" : "reading", context.request.workload.location));
  if (is_late && is_code)
    out.hint = "put what the script runs under if __name__ == \"__main__\":, or give it more time";
  return out;
}

/// Whatever runtimes do, the user's --max-time ends it.
Result<execute::ChosenRuntime> choose_runtime(RunContext& context) {
  const auto& request = context.request;
  const auto& run = context.result.run;
  const auto in_time = [&context](base::Error error) {
    return late(std::move(error), context, "looking for runtimes and loading them");
  };
  RL_TRY_ASSIGN(context.runtimes,
                execute::FoundRuntimes::find(context.executor, request.workload.kind, request.where(), [&context] {
                  return context.budget.time_to_ask();
                }).map_error(in_time));
  const auto& wanted = request.provider.empty() ? run.model.provider : request.provider;
  RL_TRY_ASSIGN(auto chosen, context.runtimes->choose(wanted, run.environment).map_error(in_time));
  RL_TRY(context.runtimes->check_named_plugins(chosen.index).map_error(in_time));
  return chosen;
}

/// The model first: most mistakes are in its path or shapes.
Result<void> look_at_model(RunContext& context) {
  const auto& request = context.request;
  auto& run = context.result.run;
  RL_TRY(hash_input_files(run.workload));
  auto time_left = context.budget.time_left(0, 0);
  time_left.grace_s = 0;  // nothing is left for a trial
  RL_TRY_ASSIGN(run.model, execute::inspect(context.executor, {run.workload, request.ort_library}, time_left)
                               .map_error([&](auto error) { return late_model(std::move(error), context); }));
  RL_TRY(check_input_types(run.model));
  RL_TRY(check_shapes_and_batch(request.workload, run.model, request.space));
  run.workload.shapes = run.model.shapes;
  run.workload.input_values = run.model.input_values;
  run.workload.content_sha256 = run.model.sha256;
  run.workload.dim_names = symbolic_dimensions(run.model);
  return {};
}

/// Files are fed from the host; inputs of a function of the user's stay where it has put them.
std::string usual_tensor_location(const schema::TuneRun& run) {
  return !run.model.provider.empty() && schema::provider_of(run.provider).takes_device_tensors ? "device" : "host";
}

bool chooses_provider(const TuneRequest& request) { return request.provider.empty() || request.provider == "auto"; }

/// What was asked for that only a GPU has.
Result<void> check_provider(const TuneRequest& request, const schema::TuneRun& run) {
  for (const auto& constraint : run.request.constraints)
    if (!run.on_gpu() && constraint.metric.rfind("gpu_", 0) == 0)
      return base::fail(ErrorCode::invalid_argument, "--constraint {}: known of a GPU only, but provider {} is tuned",
                        constraint.to_text(), run.provider)
          .hint("leave it out, or use peak_rss_mb for the memory of the process");
  if (run.tensor_location == "device" && !schema::provider_of(run.provider).takes_device_tensors)
    return base::fail(ErrorCode::invalid_argument,
                      "--io device: data can only stay on a GPU, but provider {} is tuned{}", run.provider,
                      chooses_provider(request) ? " (no usable GPU was found)" : "")
        .hint("use --io host");
  return {};
}

}  // namespace

Result<void> prepare(RunContext& context) {
  auto& request = context.request;
  auto& run = context.result.run;
  run.request = request;
  run.tensor_location = request.tensor_location;
  run.workload = request.workload;
  run.in_file = request.current;
  run.file_provider = request.file_provider;
  if (request.environment) {
    run.environment = *request.environment;
  } else {
    RL_TRY_ASSIGN(run.environment, context.executor.environment(0));
  }
  run.environment.ridgeline_version = base::version();
  RL_TRY(look_at_model(context));
  RL_TRY_ASSIGN(auto chosen, choose_runtime(context));
  run.runtime = *context.runtimes->ask(chosen.index);
  run.provider = std::move(chosen.provider);
  run.plugin = std::move(chosen.plugin);
  if (run.tensor_location.empty()) run.tensor_location = usual_tensor_location(run);
  RL_TRY(check_provider(request, run));
  run.device = !run.on_gpu() || run.environment.gpus.empty() ? run.environment.cpu_device_id()
                                                             : "gpu:" + run.environment.gpus.front().uuid;
  const bool is_unlimited = run.on_gpu() && !context.budget.is_limited() && request.search == "adaptive";
  if (is_unlimited) context.budget.limit_by_default();
  if (run.on_gpu())
    apply_gpu_defaults(request, context.budget);
  else
    suit_time(request.paired, context.budget);
  run.plan = request.plan;
  context.observer.environment_ready(run);
  // The terminal shows it in the forecast already.
  if (is_unlimited) run.notes.push_back(messages::limited_by_default(context.budget.limit_s()));
  if (chooses_provider(request))
    if (auto note = execute::idle_gpu_note(run.provider, run.runtime, run.environment); !note.empty())
      context.note(std::move(note));
  for (const auto& note : chosen.notes) context.note(note);
  if (const auto ignored = execute::ignored_variables(); !ignored.empty())
    context.note(messages::workers_go_without(ignored));
  if (request.provider == "auto") RL_TRY(add_candidates(context, chosen.index));
  if (!request.also.empty()) {
    TrialsAhead(context).want(foreseen_trials(context));  // compiling takes longer than exporting
    RL_TRY(add_exported_candidates(context));
  }
  context.observer.model_ready(run);
  if (!run.model.provider.empty())  // code of the user's, not a file: what was seen when it ran
    for (const auto& note : run.model.notes) context.note(note);
  recall_device(context);
  return {};
}

}  // namespace ridgeline::campaign
