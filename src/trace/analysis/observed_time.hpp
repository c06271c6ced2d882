// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/pauses.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// The time that shares and savings of a GPU are of. Times in nanoseconds.
struct ObservedTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t first_work_ns = 0;  ///< when the GPU's first work begins
  std::int64_t last_work_ns = 0;   ///< when all of it has ended
  LaneId last_thread = 0;          ///< that runs the steps, or launched the last of it; into Trace::thread_lanes
  std::int64_t paused_ns = 0;      ///< of it nothing is known (recording_pauses)
  [[nodiscard]] std::int64_t span_ns() const noexcept { return end_ns - start_ns - paused_ns; }
};

/// Of each GPU of a process: all its work, and the steps around it; in a trace without steps what the threads that
/// launched the work did before and after it. A step begins before its first kernel: what the host does until then is a
/// part of the time like any other.
[[nodiscard]] std::map<ProcessDevice, ObservedTime> observed_times(const Trace& trace, const LaunchIndex& launches,
                                                                   const Steps& steps);

}  // namespace ridgeline::trace
