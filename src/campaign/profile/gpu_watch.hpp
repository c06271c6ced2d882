// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/nvml_api.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// Samples clocks, power, temperature and throttle reasons of all GPUs ten times a second, from its creation to stop(),
/// by the clock that recorders have. A thread of its own does so and takes no signals; a look at one GPU takes about
/// 10 us (H200, driver 580).
class GpuWatch {
 public:
  explicit GpuWatch(std::vector<std::string> nvml = gpu::NvmlApi::default_candidates());
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  ~GpuWatch();

  /// By the GPUs' UUIDs; empty without NVML.
  using Samples = std::map<std::string, std::vector<trace::GpuSample>>;
  [[nodiscard]] Samples stop();

 private:
  void watch();
  void join();

  const std::vector<std::string> nvml_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  Samples samples_;  ///< of the thread until it has ended
  std::thread thread_;
};

/// Adds the samples of the GPUs that the trace has, from shortly before its first event to shortly after its last.
/// `devices`: their numbers in the trace, by UUID; what is not in it has one only if the trace and the host have a
/// single GPU.
void add_gpu_samples(const GpuWatch::Samples& samples, const std::map<std::string, std::int32_t>& devices,
                     trace::Trace& trace);

}  // namespace ridgeline::campaign
