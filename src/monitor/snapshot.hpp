// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::monitor {

enum class GpuState {
  ok,
  asleep,  ///< powered down by the system; nothing was asked, so that it stays so
  lost,    ///< does not answer any more
};

/// A slice of a GPU in MIG mode.
struct SliceReading {
  std::string name;
  std::string uuid;
  std::optional<double> memory_used_bytes;
  std::optional<double> memory_total_bytes;
  std::optional<double> sm_percent;
  std::optional<double> tensor_percent;
  std::optional<double> dram_percent;
};

/// One look at a GPU. What cannot be read, or needs two looks and had one, is nullopt.
struct GpuReading {
  int index = 0;
  std::string name;
  std::string uuid;
  std::string pci_bus_id;
  GpuState state = GpuState::ok;
  std::string note;  ///< why it is not ok, or what cannot be read

  std::optional<double> utilization_percent;  ///< share of the time with at least one kernel running
  std::optional<double> memory_busy_percent;  ///< share of the time with memory traffic
  std::optional<double> encoder_percent;
  std::optional<double> decoder_percent;
  std::optional<double> sm_percent;  ///< share of multiprocessors with work, averaged since the look before
  std::optional<double> occupancy_percent;
  std::optional<double> tensor_percent;
  std::optional<double> dram_percent;  ///< of the highest memory bandwidth
  std::optional<double> dram_bytes_per_s;
  std::optional<double> memory_used_bytes;
  std::optional<double> memory_total_bytes;
  std::optional<double> sm_clock_mhz;
  std::optional<double> max_sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> memory_temperature_c;
  std::optional<double> slowdown_temperature_c;
  std::optional<double> fan_percent;
  std::optional<double> power_w;  ///< averaged over about one second by the driver
  std::optional<double> power_instant_w;
  std::optional<double> power_limit_w;
  std::optional<double> energy_total_j;        ///< since the driver was loaded, read every few seconds
  std::optional<double> energy_since_start_j;  ///< since the monitor began; between counter readings by the power
  std::optional<double> pcie_sent_bytes_per_s;
  std::optional<double> pcie_received_bytes_per_s;
  std::optional<double> nvlink_sent_bytes_per_s;
  std::optional<double> nvlink_received_bytes_per_s;
  std::optional<double> pcie_generation;
  std::optional<double> max_pcie_generation;
  std::optional<double> pcie_width;
  std::optional<double> max_pcie_width;
  std::optional<double> nvlink_links_active;
  std::optional<double> nvlink_links_present;
  std::optional<double> performance_state;

  std::vector<std::string> slowdown_reasons;             ///< what throttles the clocks now
  std::map<std::string, double> slowdown_since_start_s;  ///< by cause; a cause that is not counted is absent
  std::map<std::string, double> slowdown_total_s;        ///< since the driver was loaded
  std::vector<SliceReading> slices;
};

/// A process with memory on a GPU. Its number is that of the host.
struct ProcessReading {
  std::int64_t pid = 0;
  int gpu = 0;
  std::string kind;  ///< "compute", "graphics", "both"
  std::string name;  ///< "" when the process is not visible from here
  std::string command;
  std::string user;
  std::string container;  ///< "docker:0123456789ab", "slurm:4711"; "" outside
  std::optional<double> gpu_memory_bytes;
  std::optional<double> sm_percent;
  std::optional<double> cpu_percent;  ///< 100: one core
  std::optional<double> host_memory_bytes;
};

struct HostReading {
  int cpus = 0;
  std::optional<double> cpu_percent;  ///< of all cores together
  std::optional<double> load_1m;
  std::optional<double> memory_total_bytes;
  std::optional<double> memory_used_bytes;
  std::optional<double> cgroup_cpus;  ///< limit of this control group, where there is one
  std::optional<double> cgroup_memory_limit_bytes;
  std::optional<double> cgroup_memory_used_bytes;
};

/// One look at the machine.
struct Snapshot {
  std::string time_utc;
  double since_start_s = 0;
  double interval_s = 0;  ///< since the look before; rates are averages over it; 0 at the first look
  std::string driver_version;
  HostReading host;
  std::vector<GpuReading> gpus;
  std::vector<ProcessReading> processes;
  std::vector<std::string> notes;  ///< what is not shown, and why
};

}  // namespace ridgeline::monitor

namespace ridgeline::base {
template <>
struct EnumNames<monitor::GpuState> {
  static constexpr std::array names{std::pair{monitor::GpuState::ok, "ok"},
                                    std::pair{monitor::GpuState::asleep, "asleep"},
                                    std::pair{monitor::GpuState::lost, "lost"}};
};
}  // namespace ridgeline::base
