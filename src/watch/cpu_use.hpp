// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace ridgeline::watch {

/// How busy the machine's CPUs were from one call to the next, by the kernel's own count (/proc/stat).
class CpuUse {
 public:
  explicit CpuUse(std::filesystem::path stat = "/proc/stat") : stat_(std::move(stat)) {}

  /// Percent of the time of all CPUs, time that the hypervisor took included; nullopt at the first call, within a tenth
  /// of a second of the last one, and where it cannot be read.
  [[nodiscard]] std::optional<double> busy_percent();

 private:
  struct Ticks {
    std::uint64_t busy = 0;
    std::uint64_t all = 0;
  };
  [[nodiscard]] std::optional<Ticks> read() const;

  std::filesystem::path stat_;
  std::optional<Ticks> before_;
};

}  // namespace ridgeline::watch
