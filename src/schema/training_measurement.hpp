// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schema/measurement.hpp"
#include "schema/message.hpp"
#include "stats/interval.hpp"

namespace ridgeline::schema {

/// One training step, in ms on the device's time line (CUDA events; the host's clock on a CPU). The phases are measured
/// one by one, `wall_ms` by itself from step end to step end, so that their sum can be checked against it.
struct StepPhases {
  double io_wait_ms = 0;  ///< exposed: waited for the next batch while the device had nothing to do
  double h2d_ms = 0;      ///< exposed part of the copy to the device
  double forward_ms = 0;  ///< forward and loss
  double backward_ms = 0;
  double optimizer_ms = 0;  ///< step, unscaling and zeroing of gradients
  double rest_ms = 0;       ///< what the loop did besides
  double wall_ms = 0;

  [[nodiscard]] double sum_ms() const noexcept {
    return io_wait_ms + h2d_ms + forward_ms + backward_ms + optimizer_ms + rest_ms;
  }
};
RL_DECLARE_JSON(StepPhases)

/// Medians over the steps that count, with intervals.
struct PhaseSummary {
  stats::Estimate io_wait_ms;
  stats::Estimate h2d_ms;
  stats::Estimate forward_ms;
  stats::Estimate backward_ms;
  stats::Estimate optimizer_ms;
  stats::Estimate rest_ms;
  stats::Estimate wall_ms;
};
RL_DECLARE_JSON(PhaseSummary)

/// A call of the training step that reads a tensor on the host: item(), bool(tensor), print(tensor). On a GPU it waits.
struct HostRead {
  std::string call;        ///< "item()"
  std::string place;       ///< "train.py:42 in step"
  double per_step = 0;     ///< calls
  double ms_per_step = 0;  ///< of all of them; 0: not timed
};
RL_DECLARE_JSON(HostRead)

/// Numbers of one trial besides times. What a way of training cannot tell is nullopt.
struct TrainingResources {
  std::optional<double> peak_allocated_gb;  ///< tensors, as the framework's allocator counts; GB = 1e9 bytes
  std::optional<double> peak_reserved_gb;  ///< what the allocator took from the device; on a CPU the process's peak RSS
  std::optional<double> device_capacity_gb;   ///< of the device; of the host on a CPU
  std::optional<std::int64_t> alloc_retries;  ///< the allocator emptied its cache and tried again
  std::optional<std::int64_t> num_ooms;       ///< allocations that failed for good
  std::optional<double> gpu_busy;       ///< share of the timed window with at least one kernel, by device events or GPM
  std::optional<double> gpu_util;       ///< the same as NVML's utilisation says
  std::optional<double> loader_cpu_s;   ///< CPU time of the workers with their threads; Python's: in line for a CPU too
  std::optional<double> loader_wall_s;  ///< timed windows' length times workers; without: time spent fetching
  std::optional<double> loader_read_s;  ///< time workers spent in reads, where the loader counts it
  std::optional<double> loader_decode_s;   ///< time workers spent in filters and transforms, where the loader counts it
  std::optional<double> loader_memory_gb;  ///< that the workers share with nobody
  std::optional<double> host_available_gb;  ///< that this process and others may still take, while the trial runs
  /// Of trials with data in memory or on the device: the timed windows' length less what the training thread stood in
  /// line for a CPU, and its CPU time within it. What is left was a wait.
  std::optional<double> step_wall_s;
  std::optional<double> step_cpu_s;
  std::optional<double> step_others_cpu_s;    ///< of the process's other threads together
  std::optional<std::int64_t> skipped_steps;  ///< fp16 steps whose gradients overflowed
  std::optional<double> last_loss;            ///< a non-finite loss is reported as a flag
  std::map<std::string, Message> notes;       ///< what the way of training wants reported: code of a flag each
  std::optional<std::vector<double>> losses;  ///< of the first steps, where they were asked for; up to a non-finite one
  std::optional<std::int64_t> lost_at_step;   ///< step, from 1 on, from which on no loss was a finite number
  std::optional<std::vector<HostRead>> host_reads;  ///< in warm-up steps; nullopt: not counted
};
RL_DECLARE_JSON(TrainingResources)

/// What one training trial measured.
struct TrainingMeasurement {
  std::int64_t batch = 0;
  std::int64_t warmup_steps = 0;
  double warmup_s = 0;
  std::int64_t steps = 0;            ///< that count
  std::int64_t discarded_steps = 0;  ///< in windows that were throttled
  std::vector<double> wall_ms;       ///< of each counted step, in order
  PhaseSummary phases;
  stats::Estimate samples_per_s;  ///< batch * steps / time of the windows; interval by batch means
  double identity_error = 0;      ///< (sum of phases - wall) / wall over all counted steps; signed
  TrainingResources resources;
  std::vector<QualityFlag> flags;
};
RL_DECLARE_JSON(TrainingMeasurement)

/// Flag of a trial whose last loss is NaN or infinite.
inline constexpr std::string_view kLossNotFinite = "loss_not_finite";
/// Whether the trial ended with a loss that is NaN or infinite: its speed is valid, and it trains nothing.
[[nodiscard]] bool has_lost_loss(const TrainingMeasurement& measurement) noexcept;

/// Samples/s a GB of peak reserved memory; nullopt where memory is not known.
[[nodiscard]] std::optional<double> samples_per_s_per_gb(const TrainingMeasurement& measurement) noexcept;

}  // namespace ridgeline::schema
