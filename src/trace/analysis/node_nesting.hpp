// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Which nodes ran within another: those of the bodies of Loop, If and Scan, which the profiler records like any other.
/// A thread runs one node at a time, so one that begins while another of its thread is open is a part of that; nodes of
/// other threads run beside it.
struct NodeNesting {
  explicit NodeNesting(const Nodes& nodes);

  std::vector<Place> parent;         ///< into Trace::nodes, the innermost; kNowhere: none
  std::vector<bool> has_parts;       ///< others ran within it
  std::vector<std::int64_t> own_ns;  ///< without those: over all nodes of a thread, the time in which one ran
};

/// For people: that nodes ran within others, and that they ran beside others, where they did.
[[nodiscard]] std::vector<schema::Message> nesting_notes(const Trace& trace);

}  // namespace ridgeline::trace
