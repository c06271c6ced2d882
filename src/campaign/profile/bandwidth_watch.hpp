// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "campaign/profile/background_watch.hpp"
#include "gpu/nvml_api.hpp"
#include "schema/profile.hpp"

namespace ridgeline::campaign {

/// Averages what the memory of each visible GPU moves, by the GPU's own monitors (GPM, Hopper and later), from its
/// creation to stop(). A thread of its own looks once a second and takes no signals. GPM needs neither rights nor the
/// lock of the profiling counters.
class BandwidthWatch {
 public:
  explicit BandwidthWatch(std::vector<std::string> nvml = gpu::NvmlApi::default_candidates());

  /// Ends it. Only GPUs that did something; empty without NVML or GPM.
  [[nodiscard]] std::vector<schema::ProfileBandwidth> stop();

 private:
  void watch();

  const std::vector<std::string> nvml_;
  std::vector<schema::ProfileBandwidth> rows_;  ///< of the thread until it has ended
  BackgroundWatch watch_;                       ///< last: it ends before what it works with
};

}  // namespace ridgeline::campaign
