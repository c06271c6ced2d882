// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/analysis/gaps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// A kernel of 0 ns began when the trace says, and nobody knows when it ended: until the next work on its stream it may
/// have run. Makes the cause of the first gap behind each unknown; `gaps` as find_gaps() sorts them.
void doubt_gaps_behind_timeless_kernels(const Trace& trace, std::vector<Gap>& gaps);

}  // namespace ridgeline::trace
