// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_workload.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "schema/catalog.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_lane.hpp"
#include "workload/onnx/workload_inputs.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::TrialPhase;

std::int64_t threads_of_this_process() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end; at.increment(error))
    ++count;
  return count;
}

class OrtWorkload final : public Workload {
 public:
  OrtWorkload(schema::TrialSpec spec, OrtSearchEnvironment search)
      : spec_(std::move(spec)), search_(std::move(search)) {}

  [[nodiscard]] base::Result<void> prepare() override;
  [[nodiscard]] TrialPhase phase() const noexcept override { return phase_.load(); }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return session_create_time_; }
  [[nodiscard]] int lanes() const noexcept override { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] double items_per_step() const noexcept override { return items_per_step_; }
  [[nodiscard]] bool step(int lane) noexcept override { return lanes_[static_cast<std::size_t>(lane)]->step(); }
  [[nodiscard]] base::Error last_error(int lane) const override {
    return lanes_[static_cast<std::size_t>(lane)]->last_error();
  }
  [[nodiscard]] base::Result<OutputSet> outputs() override;
  [[nodiscard]] std::map<std::string, std::string> effective_settings() const override;
  [[nodiscard]] std::vector<schema::QualityFlag> flags() const override;

 private:
  [[nodiscard]] base::Result<void> load_runtime();
  [[nodiscard]] base::Result<void> create_sessions(std::int64_t count);

  schema::TrialSpec spec_;
  OrtSearchEnvironment search_;
  std::atomic<TrialPhase> phase_{TrialPhase::load_runtime};
  // Destroyed in reverse order: the sessions before the options, these before the environment.
  std::unique_ptr<OrtEnvironment> environment_;
  std::unique_ptr<SessionSettings> settings_;
  std::vector<std::unique_ptr<OrtLane>> lanes_;
  base::Nanoseconds session_create_time_{0};
  double items_per_step_ = 1;
  std::int64_t threads_per_session_ = 0;  // started by the runtime, beside the caller's
};

base::Result<void> OrtWorkload::prepare() {
  RL_TRY(load_runtime());
  phase_ = TrialPhase::create_session;
  const auto& configuration = spec_.configuration;
  RL_TRY_ASSIGN(auto settings, SessionSettings::make(environment_->library(), configuration, spec_.provider));
  settings_ = std::make_unique<SessionSettings>(std::move(settings));
  RL_TRY(create_sessions(configuration.get_or("parallel_sessions", 1).as_integer(1)));

  const auto batch = configuration.get_or("batch_size", 0).as_integer(0);
  RL_TRY_ASSIGN(const auto inputs, make_workload_inputs(lanes_.front()->inputs(), spec_.workload, batch));
  items_per_step_ = inputs.items_per_step;
  for (const auto& lane : lanes_)
    for (const auto& member : inputs.members) RL_TRY(lane->add_shape_set(member));
  return {};
}

base::Result<void> OrtWorkload::load_runtime() {
  phase_ = TrialPhase::load_runtime;
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(spec_.runtime.library_path, search_));
  if (!spec_.runtime.version.empty() && library.version() != spec_.runtime.version)
    return base::fail(ErrorCode::unavailable,
                      "{} is ONNX Runtime {}, but the trial is for {}: give --ort-library with that version",
                      library.path().string(), library.version(), spec_.runtime.version);
  RL_TRY_ASSIGN(environment_, OrtEnvironment::create(std::move(library)));
  return {};
}

base::Result<void> OrtWorkload::create_sessions(std::int64_t count) {
  const auto threads_before = threads_of_this_process();
  for (std::int64_t at = 0; at < count; ++at) {
    const auto start = base::system_clock().now();
    RL_TRY_ASSIGN(auto lane, OrtLane::create(*environment_, spec_.workload.location, *settings_));
    session_create_time_ += base::system_clock().now() - start;
    lanes_.push_back(std::move(lane));
  }
  threads_per_session_ = (threads_of_this_process() - threads_before) / count;
  return {};
}

base::Result<OutputSet> OrtWorkload::outputs() {
  if (lanes_.empty()) return base::fail(ErrorCode::internal, "outputs asked for before prepare");
  OutputSet outputs;
  RL_TRY(lanes_.front()->collect_outputs(outputs));
  return outputs;
}

std::map<std::string, std::string> OrtWorkload::effective_settings() const {
  if (settings_ == nullptr) return {};
  auto settings = settings_->read_back();
  // In parallel mode the count holds the inter-op pool as well, so that it says nothing of either.
  if (!lanes_.empty() && spec_.configuration.get_or("execution_mode", "sequential").as_text() == "sequential")
    settings["intra_op_num_threads"] = std::to_string(threads_per_session_ + 1);
  return settings;
}

std::vector<schema::QualityFlag> OrtWorkload::flags() const {
  std::vector<schema::QualityFlag> flags;
  if (environment_ == nullptr) return flags;
  for (const auto& line : environment_->log_lines())
    if (std::none_of(flags.begin(), flags.end(), [&](const auto& flag) { return flag.message == line; }))
      flags.push_back({schema::FlagLevel::notice, "runtime_log", line});
  if (spec_.configuration.get_or("intra_op_num_threads", 0).as_integer() == 0 && threads_per_session_ > 0)
    flags.push_back({schema::FlagLevel::info, "runtime_chose_threads",
                     fmt::format("intra_op_num_threads=0: the runtime started {} threads a session beside the caller's",
                                 threads_per_session_)});
  const auto& known = spec_.runtime.known_targets;
  for (const auto& [key, value] : spec_.configuration.values()) {
    const auto* param = schema::find_param(key);
    if (known.empty() || param == nullptr || param->scope != schema::ParamScope::session_config) continue;
    if (std::find(known.begin(), known.end(), param->target) == known.end())
      flags.push_back({schema::FlagLevel::notice, "unknown_setting",
                       fmt::format("{}={}: ONNX Runtime {} does not know {}, so it has no effect", key, value.to_text(),
                                   environment_->library().version(), param->target)});
  }
  return flags;
}

}  // namespace

std::unique_ptr<Workload> make_ort_workload(schema::TrialSpec spec, OrtSearchEnvironment environment) {
  return std::make_unique<OrtWorkload>(std::move(spec), std::move(environment));
}

}  // namespace ridgeline::workload
