// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/modules.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What kept the launching thread from launching; neither: nothing that is known.
struct Blocker {
  Place call = kNowhere;   ///< into Trace::calls
  Place range = kNowhere;  ///< into Trace::ranges
};

/// A moment in which a GPU of a process did nothing, between two pieces of its work.
struct Gap {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  schema::IdleCause cause = schema::IdleCause::unknown;
  Place call = kNowhere;  ///< that launched the work behind it, into Trace::calls
  Blocker blocker;        ///< the outermost with most of the time, where it is the cause
  [[nodiscard]] std::int64_t duration_ns() const noexcept { return end_ns - start_ns; }
};

/// By process, device and time. The cause is what took most of the time between the end of the work before and the
/// launch of the work behind, on the thread that made it; work that had been launched before the gap waited in a queue.
[[nodiscard]] std::vector<Gap> find_gaps(const Trace& trace, const LaunchIndex& launches);

}  // namespace ridgeline::trace
