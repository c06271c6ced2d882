// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// CUPTI 13.0 was seen to move the ends of all kernels of a CUDA graph's launch by the same 2 to 16 ms, if recording
/// ended right behind it. Where other launches of the graph show how long its kernels take, subtracts what all of the
/// launch's exceed that by, and adds a note; launches that are slower otherwise, and graphs with fewer launches, stay.
void correct_shifted_graph_ends(Trace& trace);

}  // namespace ridgeline::trace
