// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Adds the GPU work that a process launched within the runs of an ONNX Runtime profile ("model_run"), with the calls
/// that launched it, to that profile. `start_ns`: zero of the profile on the clock of the recording. The process is
/// that of the profile's nodes.
void add_work_of_runs(Trace recorded, std::int64_t start_ns, Trace& profile);

}  // namespace ridgeline::trace
