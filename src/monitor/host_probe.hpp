// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// CPU, memory and the limits of this control group, from /proc and /sys. Not thread-safe.
class HostProbe {
 public:
  explicit HostProbe(std::filesystem::path proc = "/proc", std::filesystem::path sysfs = "/sys")
      : proc_(std::move(proc)), sysfs_(std::move(sysfs)) {}

  /// CPU use is averaged since the look before; nullopt at the first one.
  [[nodiscard]] HostReading read();

 private:
  void read_cpu(HostReading& host);
  void read_memory(HostReading& host) const;
  void read_limits(HostReading& host) const;

  std::filesystem::path proc_;
  std::filesystem::path sysfs_;
  std::optional<std::uint64_t> busy_before_;
  std::uint64_t all_before_ = 0;
};

}  // namespace ridgeline::monitor
