// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "gpu/nvml_api.hpp"

namespace ridgeline::gpu {

/// What the GPU's own performance monitors saw between two looks, averaged over that time and over all multiprocessors.
/// Unlike counters of a profiler these need no lock and no rights.
struct GpmReading {
  std::optional<double> graphics_percent;   ///< time with any work on the graphics or compute engine
  std::optional<double> sm_percent;         ///< share of multiprocessors with work
  std::optional<double> occupancy_percent;  ///< warps resident, of the most possible
  std::optional<double> tensor_percent;     ///< time that tensor cores were busy
  std::optional<double> dram_percent;       ///< of the highest memory bandwidth
  std::optional<double> pcie_sent_per_s;    ///< bytes a second
  std::optional<double> pcie_received_per_s;
  std::optional<double> nvlink_sent_per_s;
  std::optional<double> nvlink_received_per_s;
};

/// Reads GPM (Hopper and later). One look costs 0.2 to 0.6 ms on an H200; values are steady from 50 ms between looks
/// on. Not thread-safe.
class GpmReader {
 public:
  /// `slice`: the GPU instance of a MIG device, whose parent `device` then is. Errors: unsupported (this GPU or driver
  /// has no GPM), unavailable.
  [[nodiscard]] static base::Result<GpmReader> open(std::shared_ptr<const NvmlApi> api, nvml::Device device,
                                                    std::optional<unsigned> slice = std::nullopt);

  /// Takes a look. nullopt at the first one, and when the GPU does not answer.
  [[nodiscard]] std::optional<GpmReading> read();

 private:
  using Sample = std::shared_ptr<struct nvml::OpaqueGpmSample>;
  GpmReader(std::shared_ptr<const NvmlApi> api, nvml::Device device, std::optional<unsigned> slice)
      : api_(std::move(api)), device_(device), slice_(slice) {}
  [[nodiscard]] base::Result<Sample> allocate() const;

  std::shared_ptr<const NvmlApi> api_;
  nvml::Device device_;
  std::optional<unsigned> slice_;
  Sample before_;
  Sample after_;
  bool has_before_ = false;
};

}  // namespace ridgeline::gpu
