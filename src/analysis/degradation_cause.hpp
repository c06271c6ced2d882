// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/configuration.hpp"
#include "schema/environment.hpp"
#include "schema/gpu_telemetry.hpp"
#include "schema/message.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::analysis {

enum class CauseKind {
  setting_changed,  ///< in the configuration file
  thermal_throttling,
  power_throttling,
  clock_cap,        ///< the SM clock is lower than it was, and no counter says why
  other_process,    ///< on the same GPU: new, or busier than it was
  memory_pressure,  ///< hardly any GPU or host memory is free, and more was before
  library_changed,  ///< ONNX Runtime, CUDA, cuDNN or the driver
  model_changed,
  shapes_changed,
  busy_cpu,  ///< load, preemption, time stolen by the hypervisor, fewer CPUs, or another governor
  unknown,
};

/// What was known when the service was fast, or is known now. What cannot be read is left empty and says nothing.
struct ServiceState {
  schema::Environment environment;
  schema::RuntimeIdentity runtime;
  std::string model_sha256;
  std::vector<schema::ShapeSet> shapes;
  std::optional<schema::GpuTelemetry> gpu;             ///< of the measurement
  std::optional<schema::Configuration> configuration;  ///< nullopt: not known
  std::optional<double> gpu_busy_percent;              ///< by others: just before the measurement
  std::optional<double> cpu_busy_percent;              ///< of all CPUs, by anybody, before the measurement
  schema::Message disturbance;                         ///< what else ran on the CPUs meanwhile; empty for nothing
  std::map<std::string, double>
      shape_shares;  ///< by text ("x:1x3x224x224"): the mix that a service reported; else empty
  std::map<std::int64_t, std::string> process_names;  ///< of processes on the GPU, where they can be seen
};
RL_DECLARE_JSON(ServiceState)

struct DegradationCause {
  CauseKind kind = CauseKind::unknown;
  schema::Message evidence;  ///< the numbers then and now
  schema::Message advice;
};

/// "x:1x3x224x224+mask:1x224": the key of ServiceState::shape_shares.
[[nodiscard]] std::string shape_text(const schema::ShapeSet& shapes);

/// Everything that changed for the worse between the two, most telling first: somebody else keeping the GPU busy, what
/// was exchanged, what the GPU's own counters say, who else is there; last full memory of which it is not known whether
/// it was full before. Exactly one entry of kind unknown, with what was looked at, when nothing did.
[[nodiscard]] std::vector<DegradationCause> find_causes(const ServiceState& before, const ServiceState& now);

/// Only what was exchanged: settings, model, shapes, libraries. Worth telling even where nothing became slower.
[[nodiscard]] std::vector<DegradationCause> find_changes(const ServiceState& before, const ServiceState& now);

}  // namespace ridgeline::analysis

template <>
struct ridgeline::base::EnumNames<ridgeline::analysis::CauseKind> {
  using enum analysis::CauseKind;
  static constexpr std::array names{std::pair{setting_changed, "setting_changed"},
                                    std::pair{thermal_throttling, "thermal_throttling"},
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

namespace ridgeline::analysis {
RL_DECLARE_JSON(DegradationCause)
}  // namespace ridgeline::analysis
