// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Makes what a damaged or hostile file may say fit for sums and differences of 64 bits, so that analyses need no
/// thought of it: events are moved to within 18 years of the middle one where they span more than 73 (divided by the
/// GPUs); what goes beyond 36 years of durations, 0.28 EB (of allocations: 2.3 EB) or 2.3e18 FLOPs in all becomes 0 or
/// unknown, and what was allocated of a GPU with a number over 1023 counts as the host's. Notes say how many values
/// that was. Every importer ends with it; of an honest trace it reads a few columns and changes
/// nothing.
void bound_values(Trace& trace);

}  // namespace ridgeline::trace
