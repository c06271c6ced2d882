// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "gpu/nvml_device.hpp"
#include "schema/gpu_telemetry.hpp"

namespace ridgeline::watch {

/// A GPU seen from outside of the process that uses it, from one look to the next. Reads NVML only, so it starts no
/// CUDA context. Where NVML or the GPU does not answer it has nothing to say, and tries again at the next look.
class GpuSampler {
 public:
  /// `uuid` "": no GPU, every look is empty.
  GpuSampler(std::string uuid, const base::Clock& clock,
             std::vector<std::string> candidates = gpu::NvmlApi::default_candidates());

  /// Share of the last moments (1/6 to 1 s) in which kernels ran, percent.
  [[nodiscard]] std::optional<double> busy_percent();
  /// Clocks, throttle time since the last call, processes and memory; nullopt where nothing can be read.
  [[nodiscard]] std::optional<schema::GpuTelemetry> sample();

 private:
  [[nodiscard]] const gpu::NvmlDevice* device();

  std::string uuid_;
  const base::Clock& clock_;
  std::vector<std::string> candidates_;
  std::optional<gpu::NvmlDevice> device_;
  gpu::ThrottleCounters counters_;
  std::optional<base::Nanoseconds> looked_;
};

/// Command lines of the processes on the GPU, those that can be seen: in a container NVML's numbers are the host's and
/// say nothing here, so the answer is empty.
[[nodiscard]] std::map<std::int64_t, std::string> process_names(const std::optional<schema::GpuTelemetry>& gpu);

}  // namespace ridgeline::watch
