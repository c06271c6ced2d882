// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ridgeline::measure {

/// What other processes took of the CPUs that this one may use, by the kernel's ticks (/proc/stat) and by what this
/// process used itself. Of the whole machine where CPUs are shared by a quota only.
class HostLoad {
 public:
  struct Counters {
    double busy_s = 0;  ///< of the CPUs in this process's affinity, stolen time included
    double idle_s = 0;
    double own_s = 0;  ///< of this process
    double wall_s = 0;
  };
  /// nullopt where /proc/stat cannot be read.
  [[nodiscard]] static std::optional<Counters> read();

  /// Shortest time between two readings that says something, as ticks are of 10 ms.
  static constexpr double kLeastS = 0.1;

  /// CPUs that others kept busy between two readings while less than half as many were idle, so that something had to
  /// wait; 0 where there was room for all, nothing is known, or less than kLeastS passed.
  [[nodiscard]] static double taken(const std::optional<Counters>& before, const std::optional<Counters>& after);
};

}  // namespace ridgeline::measure
