// SPDX-License-Identifier: Apache-2.0
#include "watch/service_inspector.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.hpp"
#include "execute/found_runtimes.hpp"
#include "schema/catalog.hpp"
#include "schema/error_message.hpp"

namespace ridgeline::watch {

using base::Result;

Result<std::vector<config::FoundSetting>> read_watched_settings(const std::filesystem::path& file,
                                                                const config::PatchOptions& patch,
                                                                std::vector<config::UnreadSetting>& unread) {
  const auto text = base::read_file(file);
  if (!text)
    return base::fail(text.error().code, "{}; expected the YAML file with the service's settings", text.error().message)
        .hint("put it there, or name another with --config FILE");
  return config::read_settings(*text, file.string(), patch, &unread);
}

ServiceInspector::FileStamp ServiceInspector::stamp_of(const std::string& path) {
  struct stat found {};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

Result<schema::Configuration> ServiceInspector::read_configuration() const {
  if (options_.config.empty()) return options_.recommended;
  std::vector<config::UnreadSetting> unread;
  RL_TRY_ASSIGN(const auto found, read_watched_settings(options_.config, options_.patch, unread));
  schema::Configuration configuration;
  // Settings of another provider mean nothing to this service.
  for (const auto& one : unread)
    if (schema::is_for(*schema::find_param(one.key), options_.provider)) return tl::unexpected(one.error);
  for (const auto& setting : found)
    if (schema::is_for(*schema::find_param(setting.key), options_.provider))
      configuration.set(setting.key, setting.value);
  // A batch given by --batch is part of the question and stands in no file.
  const auto* batch = options_.recommended.find("batch_size");
  if (batch != nullptr && !configuration.contains("batch_size")) configuration.set("batch_size", *batch);
  return configuration;
}

Result<void> ServiceInspector::check_device(const schema::Environment& environment) const {
  constexpr std::string_view kGpu = "gpu:";
  if (options_.device.rfind(kGpu, 0) != 0) return {};
  const auto uuid = options_.device.substr(kGpu.size());
  const auto here = [&](const auto& gpu) { return gpu.uuid == uuid; };
  if (std::any_of(environment.gpus.begin(), environment.gpus.end(), here)) return {};
  return base::fail(base::ErrorCode::unavailable, "GPU {} does not answer any more{}{}", uuid,
                    environment.gpu_note.empty() ? "" : ": ", schema::own_text(environment.gpu_note))
      .hint("see ridgeline doctor");
}

execute::Executor& ServiceInspector::executor() {
  if (!executor_) executor_ = options_.make_executor();
  return *executor_;
}

void ServiceInspector::forget() {
  executor_.reset();
  runtime_.reset();
  model_sha256_.reset();
}

Result<void> ServiceInspector::inspect(analysis::ServiceState& state) {
  // Since the last look: of the probe's own work hardly anything. What was seen before stays when a look follows at
  // once.
  if (const auto busy = cpu_use_.busy_percent()) state.cpu_busy_percent = busy;
  state.environment = options_.environment();
  RL_TRY(check_device(state.environment));
  RL_TRY_ASSIGN(state.configuration, read_configuration());
  const auto& workload = options_.workload;
  if (const auto stamp = stamp_of(workload.location); !model_sha256_ || stamp != model_stamp_) {
    model_sha256_.reset();
    RL_TRY_ASSIGN(const auto model, execute::inspect(executor(), {workload, options_.ort_library}));
    model_sha256_ = model.sha256;
    model_stamp_ = stamp;
  }
  // A library that was replaced on disk is not the one that a living worker has loaded.
  if (runtime_ && stamp_of(runtime_->library_path) != library_stamp_) {
    runtime_.reset();
    executor_.reset();
  }
  if (!runtime_) {
    RL_TRY_ASSIGN(auto found, execute::FoundRuntimes::find(executor(), workload.kind, {options_.ort_library, {}, {}}));
    RL_TRY_ASSIGN(auto chosen, found.choose(options_.provider, state.environment));
    runtime_ = std::move(chosen.runtime);
    library_stamp_ = stamp_of(runtime_->library_path);
  }
  state.model_sha256 = *model_sha256_;
  state.runtime = *runtime_;
  if (state.shapes.empty()) state.shapes = workload.shapes;
  return {};
}

void ServiceInspector::inspect_afresh(analysis::ServiceState& state) {
  forget();
  auto found = state;
  if (inspect(found)) state = std::move(found);
}

}  // namespace ridgeline::watch
