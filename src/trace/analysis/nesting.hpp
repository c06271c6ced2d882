// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Index into a table of a Trace; kNowhere: none.
using Place = std::uint32_t;
inline constexpr Place kNowhere = std::numeric_limits<Place>::max();

/// What encloses what on the threads of a trace: the range that was entered last and not yet left when something began.
struct Nesting {
  std::vector<Place> parent_of_range;  ///< into Trace::ranges, one each
  std::vector<Place> range_of_call;    ///< into Trace::ranges, one for each of Trace::calls
  std::vector<Place> range_order;      ///< of Trace::ranges: by thread, then by time, what encloses before what it does
};

/// Indices of spans by thread, start, and the longer first.
[[nodiscard]] std::vector<Place> by_thread(const Spans& spans);

/// Of ranges that begin together the longer one encloses the other; of equal ones that which comes first in the file.
[[nodiscard]] Nesting nest(const Trace& trace);

/// A moment of a thread.
struct Moment {
  LaneId lane = 0;
  std::int64_t time_ns = 0;
};

/// The innermost range at each moment, into Trace::ranges; one that begins then counts, one that ends then does not.
[[nodiscard]] std::vector<Place> ranges_at(const Trace& trace, const Nesting& nesting,
                                           const std::vector<Moment>& moments);

}  // namespace ridgeline::trace
