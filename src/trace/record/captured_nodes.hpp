// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Gives nodes of CUDA graphs that were captured in a run of a session (kCaptureTime) the session's node that ran then,
/// in that thread (kSessionNode). `session` has the nodes of one process, from a clock whose zero is `zero_ns`.
void name_captured_nodes(const Trace& session, std::int64_t process, std::int64_t zero_ns, Trace& trace);

/// Of the nodes that got no name.
void forget_capture_times(Trace& trace);

}  // namespace ridgeline::trace
