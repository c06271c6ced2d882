// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::schema {

/// The GPU of a pipeline, all processes on it included; what cannot be read is nullopt.
struct StreamGpu {
  std::optional<double> utilization_percent;  ///< share of the time with at least one kernel running, by the driver
  std::optional<double> memory_used_bytes;
  std::optional<double> memory_total_bytes;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<double> sm_percent{};      ///< share of multiprocessors with work (GPM, Hopper and later)
  std::optional<double> tensor_percent{};  ///< time that tensor cores were busy (the same)
};
RL_DECLARE_JSON(StreamGpu)

/// A second of a run, or what was left of it.
struct StreamMoment {
  double at_s = 0;  ///< its end, since the pipeline was ready
  double offered_per_s = 0;
  double delivered_per_s = 0;
  double dropped_per_s = 0;
  double queued = 0;  ///< at its end
  /// Milliseconds, of the frames delivered in it; nullopt: there was none. Of several that were joined their mean.
  std::optional<double> p50;
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<StreamGpu> gpu;  ///< at its end
};
RL_DECLARE_JSON(StreamMoment)

/// What a GPU's energy brought; of the moments whose power is known.
struct StreamEnergy {
  double frames_per_joule = 0;  ///< delivered
  double mean_power_w = 0;      ///< of the whole device, by the driver
};
/// nullopt: the power of no moment is known.
[[nodiscard]] std::optional<StreamEnergy> energy_of(const std::vector<StreamMoment>& moments);

}  // namespace ridgeline::schema
