// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

struct GpuDescription {
  std::string name;
  std::string uuid;
  std::int64_t memory_bytes = 0;
  std::string driver_version;
  std::optional<int> index;        ///< as NVML and nvidia-smi count (by PCI address)
  std::string architecture;        ///< "Hopper"
  std::string compute_capability;  ///< "9.0"
  std::optional<int> multiprocessors;
  std::optional<std::int64_t> memory_free_bytes;  ///< when the run started
  std::string cuda_version;                       ///< newest that the driver serves, "13.0"
  std::optional<double> max_sm_clock_mhz;
  std::optional<double> max_memory_clock_mhz;
  std::optional<double> power_limit_w;  ///< in force
  std::optional<double> default_power_limit_w;
  std::string pci_bus_id;  ///< "00000000:0F:00.0"
  std::optional<bool> mig;
  std::optional<bool> ecc;
  std::optional<bool> persistence;
};
RL_DECLARE_JSON(GpuDescription)

/// The machine as a trial sees it. Unknown is nullopt or empty, never a made-up value.
struct Environment {
  std::string cpu_model;
  int logical_cpus = 0;       ///< online in the machine
  int physical_cores = 0;     ///< of those the process may use
  double usable_cpus = 0;     ///< min(affinity mask, cgroup quota)
  std::vector<int> affinity;  ///< logical CPU numbers the process may run on
  std::optional<double> cgroup_cpu_quota;
  std::optional<bool> smt;
  std::optional<std::string> governor;
  std::vector<std::string> isa;  ///< "avx2", "avx512f", "avx512_vnni", "amx_tile" ...
  int numa_nodes = 1;
  std::int64_t memory_bytes = 0;  ///< total, or the cgroup limit when smaller
  std::int64_t memory_available_bytes = 0;
  std::string os;  ///< "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;
  std::string hostname;
  std::optional<double> load_average;  ///< one minute, when the run started
  std::vector<GpuDescription> gpus;
  Message gpu_note;  ///< why no GPU is listed, or not every one; empty otherwise
  std::string ridgeline_version;
  std::vector<std::vector<int>>
      core_siblings;  ///< usable logical CPUs by physical core, cores by NUMA node; empty: unknown

  /// "cpu:<model>/<usable cpus>": the TrialSpec.device of CPU trials.
  [[nodiscard]] std::string cpu_device_id() const { return fmt::format("cpu:{}/{:g}", cpu_model, usable_cpus); }
};
RL_DECLARE_JSON(Environment)

}  // namespace ridgeline::schema
