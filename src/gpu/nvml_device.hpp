// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_api.hpp"
#include "schema/gpu_telemetry.hpp"

namespace ridgeline::gpu {

/// Counters of the time for which clocks were throttled, by cause.
inline constexpr std::array<const char*, 5> kThrottleCauses{"power", "thermal", "sync_boost", "board_limit",
                                                            "reliability"};
using ThrottleCounters = std::array<std::optional<std::uint64_t>, kThrottleCauses.size()>;  ///< ns

/// One GPU as NVML shows it. Whatever this GPU, driver or user may not read is nullopt. Thread-safe. Call costs as seen
/// on an H200 with driver 580: 1 to 5 us, unless said otherwise.
class NvmlDevice {
 public:
  NvmlDevice(std::shared_ptr<const NvmlApi> api, nvml::Device handle) : api_(std::move(api)), handle_(handle) {}

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string uuid() const;
  [[nodiscard]] std::string pci_bus_id() const;
  [[nodiscard]] std::string architecture() const;  ///< "Hopper"; "" when newer than this table
  [[nodiscard]] std::string compute_capability() const;
  /// From the number of CUDA cores and the cores a multiprocessor of that compute capability has.
  [[nodiscard]] std::optional<int> multiprocessors() const;
  [[nodiscard]] std::optional<nvml::Memory> memory() const;
  [[nodiscard]] std::optional<double> clock_mhz(nvml::ClockType type) const;
  [[nodiscard]] std::optional<double> max_clock_mhz(nvml::ClockType type) const;
  [[nodiscard]] std::optional<double> temperature_c() const;
  [[nodiscard]] std::optional<double> power_w() const;
  [[nodiscard]] std::optional<double> power_limit_w() const;
  [[nodiscard]] std::optional<double> default_power_limit_w() const;
  [[nodiscard]] std::optional<double> utilization_percent() const;
  [[nodiscard]] std::optional<std::uint64_t> clock_reasons() const;
  [[nodiscard]] std::optional<bool> mig() const;
  [[nodiscard]] std::optional<bool> ecc() const;
  [[nodiscard]] std::optional<bool> persistence() const;

  /// Processes with a CUDA context. Process numbers are those of the host, also when this process lives in a container.
  [[nodiscard]] std::optional<std::vector<schema::GpuNeighbour>> compute_processes() const;
  /// The most memory that a process ever held, where the operator has switched accounting on.
  [[nodiscard]] std::optional<std::int64_t> process_high_water_bytes(std::int64_t pid) const;
  /// Since the driver was loaded. About 4 ms: not beside a timed region.
  [[nodiscard]] std::optional<std::uint64_t> energy_mj() const;
  /// Up to 2 ms: between timed rounds only.
  [[nodiscard]] ThrottleCounters throttle_counters() const;

 private:
  [[nodiscard]] const nvml::Functions& functions() const noexcept { return api_->functions(); }
  void read_counter_fields(ThrottleCounters& counters) const;

  std::shared_ptr<const NvmlApi> api_;
  nvml::Device handle_;
};

}  // namespace ridgeline::gpu
