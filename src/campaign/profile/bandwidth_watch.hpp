// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/nvml_api.hpp"
#include "schema/profile.hpp"

namespace ridgeline::campaign {

/// Averages what the memory of each visible GPU moves, by the GPU's own monitors (GPM, Hopper and later), from its
/// creation to stop(). A thread of its own looks once a second and takes no signals. GPM needs neither rights nor the
/// lock of the profiling counters.
class BandwidthWatch {
 public:
  explicit BandwidthWatch(std::vector<std::string> nvml = gpu::NvmlApi::default_candidates());
  BandwidthWatch(const BandwidthWatch&) = delete;
  BandwidthWatch& operator=(const BandwidthWatch&) = delete;
  ~BandwidthWatch();

  /// Ends it. Only GPUs that did something; empty without NVML or GPM.
  [[nodiscard]] std::vector<schema::ProfileBandwidth> stop();

 private:
  void watch();
  void join();

  const std::vector<std::string> nvml_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::vector<schema::ProfileBandwidth> rows_;  ///< of the thread until it has ended
  std::thread thread_;
};

}  // namespace ridgeline::campaign
