// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/idle_causes.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/analysis/observed_time.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Where a gap lies.
enum class GapPlace { between_work, before_work, behind_work };

/// A time in which a GPU of a process did nothing.
struct Gap {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  schema::IdleCause cause = schema::IdleCause::unknown;
  Place call = kNowhere;    ///< that launched the work behind it, into Trace::calls
  Place before = kNowhere;  ///< that launched the work before it
  Blocker blocker;          ///< the outermost with most of the time, where it is the cause; of host_work the innermost
  GapPlace place = GapPlace::between_work;
  bool before_first_launch = false;  ///< of the kernel behind it, whose code was loaded meanwhile
  [[nodiscard]] std::int64_t duration_ns() const noexcept { return end_ns - start_ns; }
};

/// By process, device and time, without the times in which nothing was recorded; before the first and behind the last
/// work of a device, what was observed of it. The cause is what took most of the time between the end of the work
/// before and the launch of the work behind, on the thread that made it, of a time behind waits that is longer than
/// they are what took that; work that had been launched before the gap, or for most of it, waited on the GPU.
[[nodiscard]] std::vector<Gap> find_gaps(const Trace& trace, const LaunchIndex& launches, const Nesting& nesting,
                                         const Steps& steps, const std::map<ProcessDevice, ObservedTime>& observed);

}  // namespace ridgeline::trace
