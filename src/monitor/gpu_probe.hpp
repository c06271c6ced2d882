// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/nvml_device.hpp"
#include "gpu/nvml_live.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// Reads one GPU again and again: turns counters into rates and remembers where they stood at the start. What costs the
/// driver milliseconds is read no more often than it changes (benchmarks/nvml_calls). Not thread-safe.
class GpuProbe {
 public:
  /// Time between readings of what is slow to read and slow to change.
  static constexpr base::Nanoseconds kSlowEvery = std::chrono::seconds(15);
  /// Between readings of processes' shares, which the driver averages over about as long.
  static constexpr base::Nanoseconds kSharesEvery = std::chrono::seconds(2);

  /// `measure_pcie`: where traffic is not counted, let the driver measure it, which takes 40 ms a look.
  GpuProbe(std::shared_ptr<const gpu::NvmlApi> api, gpu::nvml::Device handle, int index, bool measure_pcie);

  [[nodiscard]] GpuReading read(base::Nanoseconds now);
  /// Processes on this GPU with what NVML tells of them.
  [[nodiscard]] std::vector<ProcessReading> processes(base::Nanoseconds now);

  [[nodiscard]] const GpuReading& facts() const noexcept { return facts_; }

 private:
  struct Slice {
    SliceReading facts;
    gpu::nvml::Device handle = nullptr;
    std::optional<gpu::GpmReader> gpm;
  };
  using Counter = std::optional<std::uint64_t>;

  void read_facts();
  void read_slow(base::Nanoseconds now);
  void read_traffic(GpuReading& reading, const gpu::LiveFields& fields, const std::optional<gpu::GpmReading>& gpm,
                    double seconds);
  void read_slowdowns(GpuReading& reading, const gpu::LiveFields& fields, bool counted);
  void read_shares(base::Nanoseconds now);
  void read_energy(GpuReading& reading, double seconds);
  void read_slices(GpuReading& reading);

  std::shared_ptr<const gpu::NvmlApi> api_;
  gpu::nvml::Device handle_;
  gpu::NvmlDevice device_;
  gpu::NvmlLive live_;
  bool measure_pcie_;
  std::optional<gpu::GpmReader> gpm_;
  std::optional<double> peak_bandwidth_;
  GpuReading facts_;  ///< what does not change, or is read every kSlowEvery

  std::optional<base::Nanoseconds> before_;
  std::optional<base::Nanoseconds> slow_before_;
  gpu::LiveFields fields_before_;
  std::map<std::string, double> slowdown_since_start_s_;  ///< as last counted
  std::map<std::string, double> slowdown_total_s_;
  bool counts_slowdowns_now_ = true;  ///< clocks were held down at the latest look, or the slow readings are due
  bool has_fan_ = true;
  std::map<std::string, std::uint64_t> slowdown_at_start_ns_;
  std::optional<double> energy_at_start_j_;
  double energy_estimated_j_ = 0;  ///< since the last reading of the counter
  bool energy_is_new_ = false;
  std::optional<double> energy_shown_j_;

  bool knows_shares_ = false;
  std::optional<base::Nanoseconds> shares_read_;
  std::uint64_t shares_until_us_ = 0;
  std::map<std::int64_t, std::pair<double, base::Nanoseconds>> shares_;  ///< by process: percent, when
  std::vector<Slice> slices_;
};

}  // namespace ridgeline::monitor
