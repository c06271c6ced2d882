// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "schema/measurement.hpp"

namespace ridgeline::measure {

/// Counters of what else ran on the processors: this process's context switches (getrusage) and the machine's ticks
/// (/proc/stat).
struct DisturbanceCounters {
  std::int64_t involuntary_switches = 0;  ///< preempted: somebody else, or more threads than cores
  std::int64_t voluntary_switches = 0;    ///< waited or slept
  std::int64_t steal_ticks = 0;           ///< taken by the hypervisor
  std::int64_t total_ticks = 0;
};

[[nodiscard]] DisturbanceCounters read_disturbance();
/// Of this process so far.
[[nodiscard]] std::int64_t involuntary_switches();

/// "disturbed" (notice) when, between two readings `seconds` apart, preemptions hit more than one inference in 20 and
/// came more often than 50 times a second (an idle Linux machine stays below 20); "stolen" (notice) when the hypervisor
/// took more than 1 % of the time.
[[nodiscard]] std::optional<schema::QualityFlag> judge_disturbance(const DisturbanceCounters& before,
                                                                   const DisturbanceCounters& after, double seconds,
                                                                   std::int64_t inferences);

}  // namespace ridgeline::measure
