// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "host/cpu_use.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// CPU, memory and the limits of this control group, from /proc and /sys. Not thread-safe.
class HostProbe {
 public:
  explicit HostProbe(host::SystemFiles files = host::SystemFiles()) : files_(std::move(files)) {}

  /// CPU use is averaged since the look before; nullopt at the first one.
  [[nodiscard]] HostReading read();

 private:
  host::SystemFiles files_;
  host::CpuUse cpu_{files_};
};

}  // namespace ridgeline::monitor
