// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

using ProcessDevice = std::pair<std::int64_t, std::int32_t>;  ///< process and number

/// In nanoseconds.
struct TimeSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  [[nodiscard]] std::int64_t duration_ns() const noexcept { return end_ns - start_ns; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// When nothing was recorded of each GPU of a process (ranges kRecordingPaused), in order and apart from each other:
/// neither busy nor idle. Without the work that is known all the same, as it had begun before.
[[nodiscard]] std::map<ProcessDevice, std::vector<TimeSpan>> recording_pauses(const Trace& trace);

/// The parts of `whole` outside `spans`, which are in order and apart from each other.
[[nodiscard]] std::vector<TimeSpan> without(const TimeSpan& whole, const std::vector<TimeSpan>& spans);

}  // namespace ridgeline::trace
