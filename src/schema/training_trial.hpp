// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "schema/training_measurement.hpp"
#include "schema/training_settings.hpp"
#include "schema/trial_outcome.hpp"

namespace ridgeline::schema {

/// What is trained and on what data, independent of any setting.
struct TrainingJob {
  std::string kind;           ///< "synthetic", "python", "native" or "script"
  std::string target;         ///< text after "synthetic:", "module:function", or a model's name or TorchScript file
  std::string target_sha256;  ///< of the module's file, the TorchScript file, or the text
  std::string data_path;      ///< "" where the target makes its own data
  std::string data_sha256;    ///< of sizes and modification times of the data's files, not of every byte
  std::string python;         ///< interpreter; "" for a native job that the LibTorch plugin trains
  std::string runtime;        ///< "torch 2.11.0+cu130", "" for synthetic
  std::map<std::string, std::string> options;  ///< "loss", "optimizer", "depth" ...; the user's own for kind python
  std::uint64_t seed = 1;
  friend bool operator==(const TrainingJob&, const TrainingJob&) = default;
};
RL_DECLARE_JSON(TrainingJob)

/// How long to time one trial. A trial is warm-up, then windows of `window_steps` steps.
struct TrainingPlan {
  std::int64_t steps = 20;        ///< timed steps, at least
  std::int64_t window_steps = 5;  ///< steps asked for at once; the device is only waited for at a window's ends
  std::int64_t max_steps = 400;   ///< goes on up to here until the interval is narrow enough
  std::int64_t warmup_steps = 5;  ///< floor; goes on until times are steady
  std::int64_t max_warmup_steps = 60;
  double max_time_s = 30;  ///< of the timed part; at least min(steps, 3) steps are run; see is_hopeless()
  double max_warmup_s = 30;
  double target_interval_ratio = 0.02;  ///< half-width of the 95 % interval of samples/s, as a share
  double prepare_limit_s = 300;         ///< deadline of preparing: building model, optimizer, loader
  double step_limit_s = 120;  ///< deadline of a single step; a window has that many times its steps, up to 10 minutes

  /// Whether that is what was asked for: enough steps, and a narrow interval or as many steps as there may be. Without
  /// it only the time ends a trial.
  [[nodiscard]] bool is_met_by(const TrainingMeasurement& measured) const noexcept;
  /// Whether the interval after `timed_s` and enough steps is so wide that it would not be narrow enough within
  /// max_time_s either: intervals shrink with the square root of the time. Asked from a third of max_time_s on.
  [[nodiscard]] bool is_hopeless(const TrainingMeasurement& measured, double timed_s) const noexcept;
};
RL_DECLARE_JSON(TrainingPlan)

/// Training devices have the framework's names: "cpu", "cuda:0".
inline constexpr std::string_view kCpuDevice = "cpu";
inline constexpr std::string_view kGpuDevice = "cuda";  ///< the first one, or "cuda:N"
[[nodiscard]] constexpr bool is_cpu_device(std::string_view device) noexcept { return device == kCpuDevice; }
[[nodiscard]] constexpr bool is_gpu_device(std::string_view device) noexcept {
  return device == kGpuDevice || device.substr(0, kGpuDevice.size() + 1) == "cuda:";
}

/// Everything a worker needs to run one training trial, and everything that identifies its result.
struct TrainingTrialSpec {
  TrainingJob job;
  std::string device{kCpuDevice};
  std::string device_id;  ///< "cpu:<model>/<cores>", "gpu:<uuid>": results of one are not those of another
  TrainingSettings settings;
  DataMode data = DataMode::loader;
  TrainingPlan plan;
  int repeat = 0;  ///< 0, 1, 2 ...: the same question asked again, interleaved with others

  /// SHA-256 over all of it but paths of data and interpreter and the limits of time, which ask for nothing else: the
  /// store's key.
  [[nodiscard]] std::string key() const;
};
RL_DECLARE_JSON(TrainingTrialSpec)

/// How an out-of-memory failure was recognised; text is the last resort.
enum class OomEvidence { none, type, error_code, allocator_counter, exit_status, kernel_log, text };

struct TrainingOutcome {
  TrialStatus status = TrialStatus::ok;
  std::optional<TrainingMeasurement> measurement;  ///< set when ok
  std::optional<Failure> failure;                  ///< set unless ok
  OomEvidence oom_evidence = OomEvidence::none;    ///< set when out_of_memory
  std::string measured_utc;
  double duration_s = 0;  ///< whole trial, start to end
};

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::OomEvidence> {
  using enum schema::OomEvidence;
  static constexpr std::array names{std::pair{none, "none"},
                                    std::pair{type, "type"},
                                    std::pair{error_code, "error_code"},
                                    std::pair{allocator_counter, "allocator_counter"},
                                    std::pair{exit_status, "exit_status"},
                                    std::pair{kernel_log, "kernel_log"},
                                    std::pair{text, "text"}};
};

namespace ridgeline::schema {

RL_DECLARE_JSON(TrainingOutcome)

}  // namespace ridgeline::schema
