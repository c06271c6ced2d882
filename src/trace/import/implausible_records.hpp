// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Leaves out what a profiler recorded wrongly, so that no span and no share is made of it, and says so in notes:
/// records hours or more from all others, or that last so long; work of a GPU at time 0 that was launched later, or
/// long before the rest; work of a GPU far from all else; what is in the file twice; kernels that run over others on
/// their stream, which does one after the other. Corrects the ends of graphs' kernels (shifted_graph_ends.hpp). Where
/// many records are so, the file is of another kind than we think, and they stay. Sets Trace::lacks_durations. Does
/// bound_values() too. Of a file that is `cut_off` also what the host did behind the last work of a GPU. Of an honest
/// trace it reads a few columns and changes nothing.
void leave_out_implausible(Trace& trace, bool cut_off = false);

}  // namespace ridgeline::trace
