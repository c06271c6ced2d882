// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< start and end

/// Of all that is in any of them, which are sorted by it.
[[nodiscard]] std::int64_t measure_of_union(Intervals& intervals);

/// What a GPU of a process did between its first and its last piece of work. Times in nanoseconds. Work that overlaps
/// counts once in the first four, which are measures of unions of intervals.
struct DeviceTime {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int64_t span_ns = 0;    ///< from the first start to the last end
  std::int64_t busy_ns = 0;    ///< something ran
  std::int64_t kernel_ns = 0;  ///< a kernel ran
  std::int64_t copy_ns = 0;    ///< memory was copied or set
  std::int64_t both_ns = 0;    ///< a kernel ran while memory was copied or set
  [[nodiscard]] std::int64_t idle_ns() const noexcept { return span_ns - busy_ns; }
};

/// By process and device.
[[nodiscard]] std::vector<DeviceTime> device_times(const Trace& trace);

}  // namespace ridgeline::trace
