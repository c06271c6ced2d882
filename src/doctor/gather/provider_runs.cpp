// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/provider_runs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "doctor/checks/per_gpu.hpp"
#include "doctor/messages.hpp"
#include "schema/error_message.hpp"
#include "stats/quantile.hpp"
#include "workload/onnx/smoke_model.hpp"

namespace ridgeline::doctor {
namespace {

constexpr double kStartUpS = 60;        // CUDA's start and the first kernels of a large build
constexpr double kBuildEngineS = 300;   // of a provider that compiles the model
constexpr std::int64_t kOldOpset = 13;  // that of the smoke test

}  // namespace

ProviderRuns::ProviderRuns(MakeExecutor make, schema::RuntimeIdentity identity, std::filesystem::path scratch)
    : make_(std::move(make)), identity_(std::move(identity)), scratch_(std::move(scratch)) {}

schema::TrialSpec ProviderRuns::spec_of(const schema::WorkloadRef& model, const std::string& provider,
                                        double max_time_s) const {
  schema::TrialSpec spec;
  spec.workload = model;
  spec.provider = provider;
  spec.runtime = identity_;
  spec.plan.warmup_runs = 2;
  spec.plan.warmup_max_s = max_time_s;
  spec.plan.min_runs = 5;
  spec.plan.min_time_s = 0.02;
  spec.plan.max_time_s = max_time_s;
  spec.plan.target_interval_ratio = 0.1;
  return spec;
}

ProviderRun ProviderRuns::run_one(execute::Executor& executor, const schema::TrialSpec& spec, std::string device,
                                  const std::filesystem::path& reference) const {
  ProviderRun run;
  run.provider = spec.provider;
  run.device = std::move(device);
  execute::TrialOptions options;
  options.reference_outputs = reference;
  options.deadline_s =
      (schema::provider_of(spec.provider).compiles_graph ? kBuildEngineS : kStartUpS) + 4 * spec.plan.max_time_s;
  const auto outcome = execute::run_trial(executor, spec, options);
  if (!outcome) {
    run.status = schema::TrialStatus::failed;
    run.failure = schema::message_of(outcome.error());
    return run;
  }
  run.status = outcome->status;
  if (outcome->failure) {
    run.failure = outcome->failure->message;
    run.signal = outcome->failure->signal;
  }
  if (outcome->measurement) {
    run.median_ms = stats::median(outcome->measurement->latency_ns) * 1e-6;
    if (outcome->measurement->gpu) run.gpu_bytes = outcome->measurement->gpu->peak_bytes();
  }
  if (outcome->output_error)
    run.output_error = outcome->output_error->shape_mismatch || outcome->output_error->nan_mismatches > 0
                           ? 1
                           : outcome->output_error->scaled_max_abs;
  return run;
}

std::vector<ProviderRun> ProviderRuns::run(const schema::WorkloadRef& model, const std::vector<GpuFacts>& gpus,
                                           double max_time_s) {
  std::vector<ProviderRun> runs;
  auto reference = scratch_ / "reference";
  {
    const auto executor = make_(nullptr);
    const auto spec = spec_of(model, schema::cpu_provider().id, max_time_s);
    runs.push_back(run_one(*executor, spec, "CPU", {}));
    if (runs.back().status != schema::TrialStatus::ok || !execute::make_reference(*executor, spec, reference))
      reference.clear();
  }
  const auto run_on = [&](const schema::ExecutionProvider& provider, const schema::GpuDescription* gpu) {
    const auto device = gpu != nullptr ? gpu_label(*gpu) : "CPU";
    if (identity_.why_not(provider) != nullptr) {
      ProviderRun run;
      run.provider = provider.id;
      run.device = device;
      run.not_run = messages::libraries_fail();
      runs.push_back(std::move(run));
      return;
    }
    const auto executor = make_(gpu);
    auto spec = spec_of(model, provider.id, max_time_s);
    if (gpu != nullptr) spec.device = "gpu:" + gpu->uuid;
    runs.push_back(run_one(*executor, spec, device, reference));
  };
  for (const auto& provider : schema::execution_providers()) {
    if (provider.file.empty() || !identity_.offers(provider)) continue;  // the CPU's ran first; plug-ins need a library
    if (!provider.on_gpu()) run_on(provider, nullptr);
    for (const auto& gpu : gpus) {
      if (!provider.on_gpu() || (provider.compiles_graph && &gpu != &gpus.front())) break;  // minutes each
      run_on(provider, &gpu.gpu);
    }
  }
  return runs;
}

std::optional<bool> ProviderRuns::supports_opset(std::int64_t opset) const {
  schema::WorkloadRef model;
  model.kind = "onnx";
  model.location = (scratch_ / "opset.onnx").string();
  if (!base::write_file_atomically(model.location, workload::smoke_model(opset))) return std::nullopt;
  const auto run = run_one(*make_(nullptr), spec_of(model, schema::cpu_provider().id, 0.05), "CPU", {});
  if (run.status == schema::TrialStatus::ok) return true;
  return run.status == schema::TrialStatus::unsupported ? std::optional(false) : std::nullopt;
}

std::optional<std::int64_t> ProviderRuns::newest_opset(std::int64_t refused) const {
  if (refused <= kOldOpset || !supports_opset(kOldOpset).value_or(false)) return std::nullopt;
  auto taken = kOldOpset;
  while (refused - taken > 1) {
    const auto middle = taken + (refused - taken) / 2;
    (supports_opset(middle).value_or(false) ? taken : refused) = middle;
  }
  return taken;
}

}  // namespace ridgeline::doctor
