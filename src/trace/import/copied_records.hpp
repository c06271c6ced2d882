// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Leaves out what a file has twice, and says so in notes: work of a GPU on one stream at the same time, by the same
/// launch (that of a CUDA graph runs many kernels, which all stay), and the host's events if it has nearly all of them
/// twice.
void leave_out_copies(Trace& trace);

}  // namespace ridgeline::trace
