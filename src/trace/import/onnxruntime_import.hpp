// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What ONNX Runtime's own profiler wrote (SessionOptions.enable_profiling): nodes, and as annotations what the session
/// did: "session_initialization", "model_run"; of a GPU kernels and copies, joined with the node that launched them,
/// where the profiler wrote them. A file that was cut off gives the runs before the cut. Of several sessions one is
/// kept, and of all that what can be (keep_whole_runs, leave_out_implausible), with notes. Errors: io; corrupt;
/// unsupported, with the way to record one that helps, where the file has no nodes or mixes sessions.
[[nodiscard]] base::Result<Trace> import_onnxruntime(const std::string& path);

/// The same without a note on what the times of its nodes are, which depends on what it is joined with.
[[nodiscard]] base::Result<Trace> import_session(const std::string& path);

}  // namespace ridgeline::trace
