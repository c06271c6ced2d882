// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/record/recorded_process.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What the processes say of their recordings becomes notes of the trace, and whether it lacks work.
void add_recording_notes(const std::vector<RecordedProcess>& processes, Trace& trace);

}  // namespace ridgeline::trace
