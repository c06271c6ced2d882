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
  /// Of processes' shares.
  static constexpr base::Nanoseconds kSharesEvery = std::chrono::seconds(5);
  /// Of the time spent in slow-downs, while there is one.
  static constexpr base::Nanoseconds kSlowdownsEvery = std::chrono::seconds(5);
  /// Of GPM, whose values are averages since the reading before: every second look, or what is less often than this. A
  /// little less than two seconds, as looks are not to the millisecond.
  static constexpr base::Nanoseconds kGpmEvery = std::chrono::milliseconds(1900);

  /// `measure_pcie`: where traffic is not counted, let the driver measure it, which takes 40 ms a look.
  GpuProbe(std::shared_ptr<const gpu::NvmlApi> api, gpu::nvml::Device handle, int index, bool measure_pcie);

  [[nodiscard]] GpuReading read(base::Nanoseconds now);
  /// Processes on this GPU with what NVML tells of them.
  [[nodiscard]] std::vector<ProcessReading> processes(base::Nanoseconds now);

  [[nodiscard]] const GpuReading& facts() const noexcept { return facts_; }

 private:
  /// Reads GPM at every second look, at each where looks are kGpmEvery apart, and gives the latest values meanwhile.
  struct PacedGpm {
    std::optional<gpu::GpmReader> reader;
    std::optional<gpu::GpmReading> latest;
    base::Nanoseconds at{0};
    bool left_out = false;  ///< at the look before
    [[nodiscard]] const std::optional<gpu::GpmReading>& read(base::Nanoseconds now);
  };
  struct Slice {
    SliceReading facts;
    gpu::nvml::Device handle = nullptr;
    PacedGpm gpm;
  };
  using Counter = std::optional<std::uint64_t>;

  void read_facts();
  void read_slow(base::Nanoseconds now);
  void read_traffic(GpuReading& reading, const gpu::LiveFields& fields, const std::optional<gpu::GpmReading>& gpm,
                    double seconds);
  /// `seconds`: since the look before. `counted`: whether `fields` has the counters; else the reasons bridge the time.
  void read_slowdowns(GpuReading& reading, const gpu::LiveFields& fields, double seconds, bool counted);
  void read_shares(base::Nanoseconds now);
  void read_energy(GpuReading& reading, double seconds);
  void read_slices(GpuReading& reading, base::Nanoseconds now);

  std::shared_ptr<const gpu::NvmlApi> api_;
  gpu::nvml::Device handle_;
  gpu::NvmlDevice device_;
  gpu::NvmlLive live_;
  bool measure_pcie_;
  PacedGpm gpm_;
  std::optional<double> peak_bandwidth_;
  GpuReading facts_;  ///< what does not change, or is read every kSlowEvery

  std::optional<base::Nanoseconds> before_;
  std::optional<base::Nanoseconds> slow_before_;
  gpu::LiveFields fields_before_;
  struct Slowdown {
    double start_s = 0;    ///< counter at the start
    double counter_s = 0;  ///< as last read
    double active_s = 0;   ///< since then, by the looks that found the reason set
    double pace = 1;       ///< seconds that the counter counts in a second with the reason set
    double shown_s = 0;    ///< with what was bridged since
  };
  std::map<std::string, Slowdown> slowdowns_;  ///< by cause
  bool counts_slowdowns_now_ = true;           ///< the slow readings were due at this look
  bool held_since_count_ = false;              ///< clocks were throttled at a look since the counters were read
  base::Nanoseconds slowdowns_read_{0};
  bool has_fan_ = true;
  std::optional<double> energy_at_start_j_;
  double energy_read_j_ = 0;       ///< the counter
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
