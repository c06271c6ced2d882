// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "host/system_files.hpp"

// How busy the machine is.
namespace ridgeline::host {

/// In the kernel's ticks since boot.
struct CpuTicks {
  std::uint64_t busy = 0;    ///< what the hypervisor took included
  std::uint64_t idle = 0;    ///< waiting for a disk included
  std::uint64_t stolen = 0;  ///< by the hypervisor

  [[nodiscard]] std::uint64_t total() const noexcept { return busy + idle; }
};

struct CpuTimes {
  CpuTicks all;
  std::vector<std::pair<int, CpuTicks>> cpus;  ///< by the CPU's number
};
/// nullopt where the kernel does not tell.
[[nodiscard]] std::optional<CpuTimes> read_cpu_times(const SystemFiles& files = SystemFiles());

/// Of the whole machine; nullopt: not told.
struct MemorySize {
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> available_bytes;
};
[[nodiscard]] MemorySize read_memory_size(const SystemFiles& files);

/// Over the last minute.
[[nodiscard]] std::optional<double> load_average(const SystemFiles& files);

}  // namespace ridgeline::host
