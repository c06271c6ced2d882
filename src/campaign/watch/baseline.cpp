// SPDX-License-Identifier: Apache-2.0
#include "campaign/watch/baseline.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "campaign/gpu_choice.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kRunsLookedAt = 10000;
constexpr std::string_view kGpu = "gpu:";
constexpr std::size_t kModelsTold = 5;
constexpr std::string_view kWatchCommand = "ridgeline watch ";

/// "gpu:<uuid>" or "cpu:<model>/<count>" is a device of this machine. Another number of CPUs is no other machine: that
/// is a cause to be named.
bool is_here(const std::string& device, const schema::Environment& environment) {
  if (device.rfind(kGpu, 0) == 0)
    return std::any_of(environment.gpus.begin(), environment.gpus.end(), [&](const auto& gpu) {
      return kGpu.size() + gpu.uuid.size() == device.size() &&
             device.compare(kGpu.size(), std::string::npos, gpu.uuid) == 0;
    });
  return device.substr(0, device.rfind('/')) == "cpu:" + environment.cpu_model;
}

bool proven_change(const schema::TuneRun& run) {
  return run.verdict && run.verdict->decision == schema::Decision::change && run.verdict->gain &&
         run.verdict->gain->verdict == schema::Verdict::faster;
}

std::string devices_text(const schema::Environment& environment) {
  if (environment.gpus.empty())
    return fmt::format("{} and no GPU{}", environment.cpu_model.empty() ? "an unknown CPU" : environment.cpu_model,
                       environment.gpu_note.empty() ? "" : " (" + environment.gpu_note + ")");
  return gpu_list(environment.gpus);
}

std::string device_text(const schema::TuneRun& run, const std::string& device) {
  for (const auto& gpu : run.environment.gpus)
    if (device == fmt::format("{}{}", kGpu, gpu.uuid)) return fmt::format("{} {}", gpu.name, gpu.uuid);
  return device;
}

std::string model_name(const std::string& model) {
  return model.rfind("synthetic:", 0) == 0 ? model : std::filesystem::path(model).filename().string();
}

/// The run's command line names this file after --config, as typed then or as the same absolute path.
bool was_given(const schema::TuneRun& run, const std::string& config) {
  if (config.empty()) return false;
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(config, ignored).lexically_normal().string();
  const auto words = base::split(run.command_line, ' ');
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = words[i];
    if (word == "--config" && i + 1 < words.size())
      word = words[i + 1];
    else if (word.rfind("--config=", 0) == 0)
      word = word.substr(std::string_view("--config=").size());
    else
      continue;
    if (word == config || word == absolute) return true;
  }
  return false;
}

Result<std::string> newest_run(store::Store& store, const BaselineRequest& request,
                               const schema::Environment& environment) {
  RL_TRY_ASSIGN(const auto runs, store.list_runs(kRunsLookedAt));
  const store::RunSummary* elsewhere = nullptr;
  std::string newest;
  std::set<std::string> models;
  for (const auto& run : runs) {
    if (run.command != "tune" || (run.decision != "change" && run.decision != "keep")) continue;
    if (!request.model.empty() && model_name(run.model) != model_name(request.model)) continue;
    if (!is_here(run.device, environment)) {
      if (elsewhere == nullptr) elsewhere = &run;
      continue;
    }
    RL_TRY_ASSIGN(const auto whole, store.load_run(run.id));
    // A watch's own retune that changed nothing measured a service that was slow.
    if (whole.command_line.rfind(kWatchCommand, 0) == 0 && !proven_change(whole)) continue;
    if (was_given(whole, request.config)) return run.id;
    if (newest.empty()) newest = run.id;
    models.insert(run.model);
    if (models.size() > kModelsTold) break;
  }
  if (models.size() == 1) return newest;
  if (models.size() > 1)
    return fail(ErrorCode::invalid_argument, "runs of several models fit ({}); name one with --model FILE or --run RUN",
                fmt::join(models, ", "));
  const auto of_model = request.model.empty() ? "" : fmt::format(" of {}", request.model);
  if (elsewhere != nullptr)
    return fail(
        ErrorCode::not_found,
        "no run{} with a recommendation was measured on this machine's {}: the newest, {}, is of {}; tune here first",
        of_model, devices_text(environment), elsewhere->id, elsewhere->device);
  return fail(ErrorCode::not_found, "no run{} with a recommendation is in {}; start with: ridgeline tune {}", of_model,
              store.path().string(), request.model.empty() ? "model.onnx --config config.yaml" : request.model);
}

}  // namespace

Result<Baseline> baseline_of(store::Store& store, const schema::TuneRun& run) {
  if (!run.verdict || run.verdict->decision == schema::Decision::none)
    return fail(ErrorCode::invalid_argument, "run {} has no recommendation{}{}; choose another, or tune again", run.id,
                run.verdict ? ": " : ": it was not finished", run.verdict ? run.verdict->reason : "");
  const auto trial = std::find_if(run.trials.begin(), run.trials.end(),
                                  [&](const auto& entry) { return entry.id == run.verdict->trial_id; });
  if (trial == run.trials.end())
    return fail(ErrorCode::invalid_argument, "run {} names trial {} as the best, which it does not hold; tune again",
                run.id, run.verdict->trial_id);
  RL_TRY_ASSIGN(auto stored, store.find_trial(trial->key));
  if (!stored || !stored->outcome.measurement || stored->outcome.measurement->latency_ns.empty())
    return fail(ErrorCode::invalid_argument, "the measurement of trial {}/{} is not in {}; tune again", run.id,
                trial->id, store.path().string());
  Baseline out;
  out.name = fmt::format("{}/{}", run.id, trial->id);
  out.run = run;
  out.spec = std::move(stored->spec);
  auto& measurement = *stored->outcome.measurement;
  out.figure = analysis::figure_of(measurement);
  auto& state = out.state;
  state.environment = run.environment;
  state.runtime = run.runtime;
  state.model_sha256 = run.workload.content_sha256;
  state.shapes = run.workload.shapes;
  state.configuration = out.spec.configuration;
  state.gpu = std::move(measurement.gpu);
  if (state.gpu) state.gpu->samples.clear();
  for (const auto& flag : measurement.flags)
    if (flag.code == "disturbed") state.disturbance = flag.message;
  return out;
}

Result<Baseline> find_baseline(store::Store& store, const BaselineRequest& request,
                               const schema::Environment& environment) {
  auto id = request.run;
  if (id.empty() || id == "latest") {
    RL_TRY_ASSIGN(id, newest_run(store, request, environment));
  }
  RL_TRY_ASSIGN(const auto run, store.load_run(id));
  RL_TRY_ASSIGN(auto baseline, baseline_of(store, run));
  if (!is_here(baseline.spec.device, environment))
    return fail(ErrorCode::invalid_argument,
                "run {} was measured on {}, and this machine has {}; tune here for a baseline", run.id,
                device_text(run, baseline.spec.device), devices_text(environment));
  if (!request.model.empty() && model_name(run.model.path) != model_name(request.model))
    return fail(ErrorCode::invalid_argument, "run {} is of {}, not of {}; choose another run or leave out --model",
                run.id, run.model.path, request.model);
  return baseline;
}

}  // namespace ridgeline::campaign
