// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/environment.hpp"
#include "schema/gpu_telemetry.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::analysis {

enum class CauseKind {
  thermal_throttling,
  power_throttling,
  clock_cap,        ///< the SM clock is lower than it was, and no counter says why
  other_process,    ///< on the same GPU
  memory_pressure,  ///< hardly any GPU or host memory is free
  library_changed,  ///< ONNX Runtime, CUDA, cuDNN or the driver
  model_changed,
  shapes_changed,
  busy_cpu,  ///< load, fewer CPUs, or another governor
  unknown,
};

/// What was known when the baseline was measured, or is known now. What cannot be read is left empty and says nothing.
struct ServiceState {
  schema::Environment environment;
  schema::RuntimeIdentity runtime;
  std::string model_sha256;
  std::vector<schema::ShapeSet> shapes;
  std::optional<schema::GpuTelemetry> gpu;  ///< of the measurement
};

struct DegradationCause {
  CauseKind kind = CauseKind::unknown;
  std::string evidence;  ///< the numbers then and now, one line
  std::string advice;
};

/// Everything that changed for the worse between the two, most telling first: what the GPU's own counters say, then
/// what was exchanged, then who else is there. Exactly one entry of kind unknown, with what was looked at, when nothing
/// did.
[[nodiscard]] std::vector<DegradationCause> find_causes(const ServiceState& baseline, const ServiceState& now);

}  // namespace ridgeline::analysis

template <>
struct ridgeline::base::EnumNames<ridgeline::analysis::CauseKind> {
  using enum analysis::CauseKind;
  static constexpr std::array names{std::pair{thermal_throttling, "thermal_throttling"},
                                    std::pair{power_throttling, "power_throttling"},
                                    std::pair{clock_cap, "clock_cap"},
                                    std::pair{other_process, "other_process"},
                                    std::pair{memory_pressure, "memory_pressure"},
                                    std::pair{library_changed, "library_changed"},
                                    std::pair{model_changed, "model_changed"},
                                    std::pair{shapes_changed, "shapes_changed"},
                                    std::pair{busy_cpu, "busy_cpu"},
                                    std::pair{unknown, "unknown"}};
};
