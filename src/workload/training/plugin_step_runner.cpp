// SPDX-License-Identifier: Apache-2.0
#include "workload/training/plugin_step_runner.hpp"

#include <algorithm>
#include <filesystem>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "workload/training/plugin_error.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::AmpMode;
using schema::DataMode;

StepError plain(base::Error error) {
  StepError out;
  if (error.code == ErrorCode::out_of_memory) out.oom = schema::OomEvidence::type;
  out.error = std::move(error);
  return out;
}

std::int32_t amp_of(AmpMode amp) {
  switch (amp) {
    case AmpMode::bf16: return RL_AMP_BF16;
    case AmpMode::fp16: return RL_AMP_FP16;
    case AmpMode::off: break;
  }
  return RL_AMP_OFF;
}

std::int32_t data_of(DataMode mode) {
  switch (mode) {
    case DataMode::host: return RL_DATA_HOST;
    case DataMode::device: return RL_DATA_DEVICE;
    case DataMode::loader_only: return RL_DATA_LOADER_ONLY;
    case DataMode::loader: break;
  }
  return RL_DATA_LOADER;
}

/// The options that are the model's own.
std::string model_options(const std::map<std::string, std::string>& options) {
  auto json = base::Json::object();
  const auto& data = data_option_names();
  for (const auto& [name, value] : options)
    if (std::find(data.begin(), data.end(), name) == data.end()) json[name] = value;
  return base::dump_json(json);
}

bool is_file(const std::string& model) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(model, ignored);
}

rl_train_stats unknown_stats() {
  rl_train_stats out{};
  out.struct_size = sizeof out;
  out.parameters = -1;  // an older plugin leaves it as it is
  return out;
}

std::optional<double> gigabytes(std::int64_t bytes) {
  if (bytes < 0) return std::nullopt;
  return static_cast<double>(bytes) / 1e9;
}

std::optional<std::int64_t> known(std::int64_t count) {
  if (count < 0) return std::nullopt;
  return count;
}

}  // namespace

StepResult<NativeJob> PluginStepRunner::describe(const schema::TrainingJob& job) {
  NativeJob out;
  out.runtime = library_.runtime();
  out.cuda = library_.has_cuda();
  auto hash = is_file(job.target) ? base::sha256_file(job.target) : base::sha256_hex(job.target);
  if (!hash) return tl::unexpected(plain(std::move(hash).error()));
  out.target_sha256 = std::move(*hash);
  schema::TrainingTrialSpec spec;
  spec.job = job;
  spec.device = "cpu";
  spec.data = DataMode::host;
  spec.settings.batch = 1;
  auto facts = find_data_facts(job);
  if (!facts) return tl::unexpected(plain(std::move(facts).error()));
  out.data = std::move(*facts);
  for (const auto& [name, value] : out.data.options) spec.job.options[name] = value;
  auto ready = prepare(spec);
  if (ready) out.parameters = known(stats().value_or(unknown_stats()).parameters);
  close();
  if (!ready) return tl::unexpected(std::move(ready).error());
  return out;
}

StepResult<void> PluginStepRunner::prepare(const schema::TrainingTrialSpec& spec) {
  data_ = spec.data;
  const bool on_gpu = !schema::is_cpu_device(spec.device);
  if (!spec.job.data_path.empty()) {
    auto data = choose_training_data(spec.job.data_path, spec.job.options);
    if (!data) return tl::unexpected(plain(std::move(data).error()));
    const Hdf5Source::Settings settings{spec.settings.batch, spec.settings.workers, spec.settings.pin_memory && on_gpu,
                                        spec.job.seed};
    auto source = Hdf5Source::open(*data, settings, library_.api());
    if (!source) return tl::unexpected(plain(std::move(source).error()));
    source_ = std::move(*source);
  }
  const auto options = model_options(spec.job.options);
  rl_train_request request{};
  request.struct_size = sizeof request;
  request.batch = spec.settings.batch;
  request.workers = spec.settings.workers;
  request.amp = amp_of(spec.settings.amp);
  request.pin_memory = spec.settings.pin_memory ? 1 : 0;
  request.data = data_of(spec.data);
  request.seed = spec.job.seed;
  request.device = spec.device.c_str();
  request.model = spec.job.target.c_str();
  request.options_json = options.c_str();
  auto error = empty_plugin_error();
  const auto code = library_.api().create(&request, source_ ? &source_->interface() : nullptr, &trial_, &error);
  if (code == RL_TRAIN_OK) return {};
  trial_ = nullptr;
  return tl::unexpected(read_plugin_error(code, error));
}

StepResult<StepWindow> PluginStepRunner::run(std::int64_t steps) {
  std::vector<rl_train_step> rows(static_cast<std::size_t>(std::max<std::int64_t>(0, steps)));
  StepWindow window;
  auto error = empty_plugin_error();
  const host::StepWork work;
  const auto code = library_.api().run(trial_, steps, rows.data(), &window.wall_ms, &error);
  const auto done = work.since();
  if (code != RL_TRAIN_OK) return tl::unexpected(read_plugin_error(code, error));
  work_.thread += done.thread;
  work_.others += done.others;
  timed_s_ += window.wall_ms * 1e-3 - done.in_line;
  for (const auto& row : rows)
    window.steps.push_back(
        {row.io_wait_ms, row.h2d_ms, row.forward_ms, row.backward_ms, row.optimizer_ms, row.rest_ms, row.wall_ms});
  return window;
}

StepResult<void> PluginStepRunner::reset_peaks() {
  if (source_) before_ = source_->statistics();
  work_ = {};
  timed_s_ = 0;
  auto error = empty_plugin_error();
  const auto code = library_.api().reset_peaks(trial_, &error);
  if (code != RL_TRAIN_OK) return tl::unexpected(read_plugin_error(code, error));
  return {};
}

StepResult<rl_train_stats> PluginStepRunner::stats() {
  auto out = unknown_stats();
  auto error = empty_plugin_error();
  const auto code = library_.api().stats(trial_, &out, &error);
  if (code != RL_TRAIN_OK) return tl::unexpected(read_plugin_error(code, error));
  return out;
}

StepResult<schema::TrainingResources> PluginStepRunner::resources() {
  const auto answer = this->stats();
  if (!answer) return tl::unexpected(answer.error());
  const auto& stats = *answer;
  schema::TrainingResources out;
  out.peak_allocated_gb = gigabytes(stats.peak_allocated_bytes);
  out.peak_reserved_gb = gigabytes(stats.peak_reserved_bytes);
  out.device_capacity_gb = gigabytes(stats.capacity_bytes);
  out.alloc_retries = known(stats.alloc_retries);
  out.num_ooms = known(stats.num_ooms);
  out.skipped_steps = known(stats.skipped_steps);
  if (stats.gpu_busy >= 0) out.gpu_busy = stats.gpu_busy;
  if (stats.has_loss != 0) out.last_loss = stats.last_loss;
  if (data_ == DataMode::host || data_ == DataMode::device) {
    out.step_wall_s = timed_s_;
    out.step_cpu_s = work_.thread;
    out.step_others_cpu_s = work_.others;
  }
  if (source_) {
    const auto now = source_->statistics().total.read;
    const auto& then = before_.total.read;
    out.loader_read_s = now.read_seconds - then.read_seconds;
    out.loader_decode_s = now.decode_seconds + now.copy_seconds - then.decode_seconds - then.copy_seconds;
  }
  return out;
}

void PluginStepRunner::close() noexcept {
  if (trial_ != nullptr) library_.api().destroy(trial_);
  trial_ = nullptr;
  source_.reset();
}

}  // namespace ridgeline::workload
