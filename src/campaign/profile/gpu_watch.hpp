// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "campaign/profile/background_watch.hpp"
#include "gpu/nvml_api.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// Samples clocks, power, temperature and throttle reasons of all GPUs ten times a second, from its creation to stop(),
/// by the clock that recorders have. A thread of its own does so and takes no signals; a look at one GPU takes about
/// 10 us (H200, driver 580).
class GpuWatch {
 public:
  explicit GpuWatch(std::vector<std::string> nvml = gpu::NvmlApi::default_candidates());

  /// By the GPUs' UUIDs; empty without NVML.
  using Samples = std::map<std::string, std::vector<trace::GpuSample>>;
  [[nodiscard]] Samples stop();

 private:
  void watch();

  const std::vector<std::string> nvml_;
  Samples samples_;        ///< of the thread until it has ended
  BackgroundWatch watch_;  ///< last: it ends before what it works with
};

/// Adds the samples of the GPUs that the trace has, from shortly before its first event to shortly after its last.
/// `devices`: their numbers in the trace, by UUID; what is not in it has one only if the trace and the host have a
/// single GPU.
void add_gpu_samples(const GpuWatch::Samples& samples, const std::map<std::string, std::int32_t>& devices,
                     trace::Trace& trace);

}  // namespace ridgeline::campaign
