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
};

/// Of ranges that begin together the longer one encloses the other; of equal ones that which comes first in the file.
[[nodiscard]] Nesting nest(const Trace& trace);

/// The call that launched each kernel, into Trace::calls, as LaunchIndex finds it. One for each of Trace::kernels.
[[nodiscard]] std::vector<Place> calls_of_kernels(const Trace& trace);

}  // namespace ridgeline::trace
