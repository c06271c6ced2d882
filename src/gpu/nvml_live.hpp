// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/nvml_api.hpp"

namespace ridgeline::gpu {

/// Why clocks were throttled, each with a counter of the time; names as schema::clock_reason_names gives them, and
/// "thermal_slowdown" for drivers that do not tell hardware and software apart.
inline constexpr std::array<const char*, 6> kSlowdownCauses{
    "sw_power_cap", "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake", "sync_boost", "thermal_slowdown"};

/// What to fetch: the rest costs less than it.
struct LiveFieldChoice {
  bool slowdowns = true;
  bool traffic = true;
};

/// Counters and readings that one batched call fetches; about 2 ms on an H200 for all of them. What is not to be had,
/// or was not asked for, is nullopt.
struct LiveFields {
  std::array<std::optional<std::uint64_t>, kSlowdownCauses.size()> slowdown_ns;  ///< since the driver was loaded
  std::optional<double> power_instant_w;
  std::optional<double> memory_temperature_c;
  std::optional<std::uint64_t> pcie_sent_bytes;
  std::optional<std::uint64_t> pcie_received_bytes;
  bool pcie_wraps = false;  ///< these two are counted in 32 bits
  /// When the driver read the traffic counters, microseconds since 1970; nullopt where it does not say.
  std::optional<std::int64_t> traffic_time_us;
  std::optional<std::uint64_t> nvlink_sent_bytes;  ///< data over all links
  std::optional<std::uint64_t> nvlink_received_bytes;
};

struct PcieLinkNow {
  std::optional<int> generation;
  std::optional<int> width;
  std::optional<int> max_generation;  ///< that GPU and slot together can do
  std::optional<int> max_width;
};

struct NvlinkLinks {
  int active = 0;
  int present = 0;
};

struct RunningProcess {
  std::int64_t pid = 0;  ///< of the host, also inside a container
  std::optional<std::int64_t> memory_bytes;
  bool compute = false;
  bool graphics = false;
};

struct ProcessShare {
  std::int64_t pid = 0;
  std::uint64_t timestamp_us = 0;
  double sm_percent = 0;
};

/// A slice of a GPU in MIG mode.
struct MigSlice {
  std::string name;
  std::string uuid;
  std::optional<unsigned> gpu_instance;
  nvml::Device handle = nullptr;
};

/// What a monitor reads of a GPU beyond NvmlDevice. Whatever this GPU, driver or user may not read is nullopt.
/// Thread-safe. Calls cost 1 to 25 us on an H200 with driver 580, unless said otherwise.
class NvmlLive {
 public:
  NvmlLive(std::shared_ptr<const NvmlApi> api, nvml::Device handle) : api_(std::move(api)), handle_(handle) {}

  /// Whether the GPU still answers. Errors: unavailable when it fell off the bus, needs a reset, or nothing that every
  /// GPU can tell is readable.
  [[nodiscard]] base::Result<void> alive() const;

  [[nodiscard]] LiveFields fields(LiveFieldChoice choice = {}) const;
  [[nodiscard]] std::optional<double> memory_busy_percent() const;  ///< share of the time with memory traffic
  [[nodiscard]] std::optional<double> encoder_percent() const;
  [[nodiscard]] std::optional<double> decoder_percent() const;
  [[nodiscard]] std::optional<double> fan_percent() const;
  [[nodiscard]] std::optional<int> performance_state() const;  ///< 0, fastest, to 15
  [[nodiscard]] std::optional<double> slowdown_temperature_c() const;
  /// Highest memory bandwidth, bytes a second: two transfers a clock over the bus width.
  [[nodiscard]] std::optional<double> peak_memory_bandwidth() const;

  [[nodiscard]] PcieLinkNow pcie_link() const;
  /// Bytes a second over the last 20 ms, measured during the call, which takes that long.
  [[nodiscard]] std::optional<double> pcie_sent_per_s() const;
  [[nodiscard]] std::optional<double> pcie_received_per_s() const;
  [[nodiscard]] std::optional<NvlinkLinks> nvlink_links() const;

  /// Compute and graphics processes, one entry a process.
  [[nodiscard]] std::optional<std::vector<RunningProcess>> processes() const;
  /// Shares of the processes seen since `since_us` (a timestamp of an earlier answer; 0: all that are kept).
  [[nodiscard]] std::optional<std::vector<ProcessShare>> process_shares(std::uint64_t since_us) const;

  /// Empty when MIG is off.
  [[nodiscard]] std::vector<MigSlice> mig_slices() const;

 private:
  [[nodiscard]] const nvml::Functions& functions() const noexcept { return api_->functions(); }

  std::shared_ptr<const NvmlApi> api_;
  nvml::Device handle_;
};

}  // namespace ridgeline::gpu
