// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "host/load.hpp"

namespace ridgeline::host {

/// How busy the machine's CPUs were from one call to the next, by the kernel's own count.
class CpuUse {
 public:
  explicit CpuUse(SystemFiles files = SystemFiles()) : files_(std::move(files)) {}

  /// Percent of the time of all CPUs, time that the hypervisor took included; nullopt at the first call, within a tenth
  /// of a second of the last one, and where it cannot be read.
  [[nodiscard]] std::optional<double> busy_percent();
  /// CPUs that the last call saw.
  [[nodiscard]] int cpus() const noexcept { return cpus_; }

 private:
  SystemFiles files_;
  std::optional<CpuTicks> before_;
  int cpus_ = 0;
};

}  // namespace ridgeline::host
