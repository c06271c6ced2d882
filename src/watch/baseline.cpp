// SPDX-License-Identifier: Apache-2.0
#include "watch/baseline.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "campaign/line_of.hpp"
#include "execute/gpu_choice.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::watch {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kRunsForBaseline = 10000;
constexpr std::string_view kGpu = "gpu:";
constexpr std::size_t kModelsTold = 5;

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

/// GPUs are there, and the driver tells of none which it is.
bool cannot_be_read(const std::vector<schema::GpuDescription>& gpus) {
  return !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.uuid.empty(); });
}

std::string devices_text(const schema::Environment& environment) {
  const auto& gpus = environment.gpus;
  if (cannot_be_read(gpus))
    return fmt::format("the GPUs of this machine cannot be read ({})",
                       !environment.gpu_note.empty() ? schema::own_text(environment.gpu_note)
                       : gpus.size() == 1
                           ? fmt::format("the driver reports no UUID of GPU {}", gpus[0].index.value_or(0))
                           : fmt::format("the driver reports no UUID of any of {} GPUs", gpus.size()));
  if (environment.gpus.empty())
    return fmt::format("{} and no GPU{}", environment.cpu_model.empty() ? "an unknown CPU" : environment.cpu_model,
                       environment.gpu_note.empty() ? "" : " (" + schema::own_text(environment.gpu_note) + ")");
  return execute::gpu_list(environment.gpus);
}

std::string device_text(const schema::TuneRun& run, const std::string& device) {
  for (const auto& gpu : run.environment.gpus)
    if (device == fmt::format("{}{}", kGpu, gpu.uuid)) return fmt::format("{} {}", gpu.name, gpu.uuid);
  return device;
}

std::string file_name_of(const std::string& model) {
  return model.rfind("synthetic:", 0) == 0 ? model : std::filesystem::path(model).filename().string();
}

/// `config` is an absolute path. A folder may have been reached through a symbolic link.
bool is_same_file(const std::string& config, const std::string& other) {
  if (std::filesystem::path(other).lexically_normal() == config) return true;
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(config, error);
  if (error) return false;
  return std::filesystem::weakly_canonical(other, error) == real && !error;
}

enum class Given {
  no,
  perhaps,  ///< a relative name that was typed in a folder which nobody wrote down
  yes,
};

/// Whether the run was given the file that BaselineRequest::config names.
Given was_given(const schema::TuneRun& run, const std::string& config) {
  const auto& given = run.request.config_path;
  if (config.empty() || given.empty()) return Given::no;
  if (std::filesystem::path(given).is_absolute())
    return is_same_file(absolute_path(config), given) ? Given::yes : Given::no;
  return given == config ? Given::perhaps : Given::no;
}

/// The newest run, where all are of one model.
struct Newest {
  std::string id{};
  std::set<std::string> models{};

  void add(const schema::RunSummary& run) {
    if (id.empty()) id = run.id;
    if (models.size() <= kModelsTold) models.insert(run.line.subject);
  }
};

/// Runs with a recommendation that fit the request.
struct Candidates {
  std::string own;  ///< was given the request's file of settings; nothing else is looked for then
  Newest perhaps_own;
  Newest any;
  std::optional<schema::RunSummary> elsewhere;  ///< the newest of another machine; one that was given the file first
  bool own_is_elsewhere = false;
};

Result<Candidates> find_candidates(store::Store& store, const BaselineRequest& request,
                                   const schema::Environment& environment) {
  RL_TRY_ASSIGN(const auto runs, store.list_runs(kRunsForBaseline, schema::TuneRun::kLayout.kind));
  Candidates found;
  for (const auto& run : runs) {
    if (run.line.decision != "change" && run.line.decision != "keep") continue;
    if (!request.model.empty() && file_name_of(run.line.subject) != file_name_of(request.model)) continue;
    const bool here = is_here(run.line.device, environment);
    if (!here && !found.elsewhere) found.elsewhere = run;
    if (!here && (request.config.empty() || found.own_is_elsewhere)) continue;
    RL_TRY_ASSIGN(const auto whole, store.load<schema::TuneRun>(run.id));
    const auto given = was_given(whole, request.config);
    if (!here) {
      found.own_is_elsewhere = given == Given::yes;
      if (found.own_is_elsewhere) found.elsewhere = run;
      continue;
    }
    // A watch's own retune that changed nothing measured a service that was slow.
    if (whole.request.watch && !proven_change(whole)) continue;
    if (given == Given::yes) {
      found.own = run.id;
      break;
    }
    if (given == Given::perhaps) found.perhaps_own.add(run);
    found.any.add(run);
    if (request.config.empty() && found.any.models.size() > kModelsTold) break;
  }
  return found;
}

Result<std::string> newest_run(store::Store& store, const BaselineRequest& request,
                               const schema::Environment& environment) {
  RL_TRY_ASSIGN(const auto found, find_candidates(store, request, environment));
  if (!found.own.empty()) return found.own;
  const auto& [newest, models] = found.perhaps_own.id.empty() ? found.any : found.perhaps_own;
  // When the file's own run was measured elsewhere, one of another model is another service's.
  const bool others =
      found.own_is_elsewhere && request.model.empty() && models != std::set{found.elsewhere->line.subject};
  if (models.size() == 1 && !others) return newest;
  if (models.size() > 1 && !others)
    return fail(ErrorCode::invalid_argument, "runs of several models fit ({})", fmt::join(models, ", "))
        .hint("name one with --model FILE or --run RUN");
  const auto of_model = request.model.empty() ? "" : fmt::format(" of {}", request.model);
  if (!found.elsewhere)
    return fail(ErrorCode::not_found, "no run{} with a recommendation is in {}", of_model, store.path().string())
        .hint("start with: ridgeline tune {}",
              request.model.empty() ? "model.onnx --config config.yaml" : request.model);
  const auto run = found.own_is_elsewhere ? fmt::format("run of {}", request.config)
                                          : fmt::format("run{} with a recommendation", of_model);
  if (cannot_be_read(environment.gpus))
    return fail(ErrorCode::not_found, "no {} is known to be of this machine: {}; the newest, {}, is of {}", run,
                devices_text(environment), found.elsewhere->id, found.elsewhere->line.device)
        .hint("see ridgeline doctor");
  return fail(ErrorCode::not_found, "no {} was measured on this machine's {}: the newest, {}, is of {}", run,
              devices_text(environment), found.elsewhere->id, found.elsewhere->line.device)
      .hint("tune here first");
}

}  // namespace

std::string absolute_path(const std::filesystem::path& file) {
  std::error_code unreachable;  // the current folder was removed
  return std::filesystem::absolute(file, unreachable).lexically_normal().string();
}

Result<Baseline> baseline_of(store::Store& store, const schema::TuneRun& run) {
  if (!run.verdict || run.verdict->decision == schema::Decision::none)
    return fail(ErrorCode::invalid_argument, "run {} has no recommendation{}{}", run.id,
                run.verdict ? ": " : ": it was not finished", run.verdict ? campaign::line_of(run.verdict->reason) : "")
        .hint("choose another, or tune again");
  const auto trial = std::find_if(run.trials.begin(), run.trials.end(),
                                  [&](const auto& entry) { return entry.id == run.verdict->trial_id; });
  if (trial == run.trials.end())
    return fail(ErrorCode::invalid_argument, "run {} names trial {} as the best, which it does not hold", run.id,
                run.verdict->trial_id)
        .hint("tune again");
  RL_TRY_ASSIGN(auto stored, store.find_trial(trial->key, run.finished_utc));
  if (!stored || !stored->outcome.measurement || stored->outcome.measurement->latency_ns.empty())
    return fail(ErrorCode::invalid_argument, "the measurement of trial {}/{} is not in {}", run.id, trial->id,
                store.path().string())
        .hint("tune again");
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
    if (flag.code == "disturbed" || flag.code == "stolen") state.disturbance = flag.message;
  return out;
}

Result<Baseline> find_baseline(store::Store& store, const BaselineRequest& request,
                               const schema::Environment& environment) {
  auto id = request.run;
  if (id.empty() || id == "latest") {
    RL_TRY_ASSIGN(id, newest_run(store, request, environment));
  }
  RL_TRY_ASSIGN(const auto run, store.load<schema::TuneRun>(id));
  RL_TRY_ASSIGN(auto baseline, baseline_of(store, run));
  const bool here = is_here(baseline.spec.device, environment);
  if (!here && cannot_be_read(environment.gpus))
    return fail(ErrorCode::invalid_argument, "run {} was measured on {}, and {}", run.id,
                device_text(run, baseline.spec.device), devices_text(environment))
        .hint("see ridgeline doctor");
  if (!here)
    return fail(ErrorCode::invalid_argument, "run {} was measured on {}, and this machine has {}", run.id,
                device_text(run, baseline.spec.device), devices_text(environment))
        .hint("tune here for a baseline");
  if (!request.model.empty() && file_name_of(run.model.path) != file_name_of(request.model))
    return fail(ErrorCode::invalid_argument, "run {} is of {}, not of {}", run.id, run.model.path, request.model)
        .hint("choose another run or leave out --model");
  return baseline;
}

}  // namespace ridgeline::watch
