// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Leaves out the few records that begin hours from all others, or last hours longer than all others together, and says
/// so in a note.
void leave_out_far_records(Trace& trace);
/// Likewise the little work of a GPU that lies many times the length of all else away while no event of the host is
/// near: a program that had waited for it would have done something then. Only behind bound_values().
void leave_out_lone_work(Trace& trace);

}  // namespace ridgeline::trace
