// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Writes a trace as the PyTorch profiler does (Chrome's JSON; packed by gzip where the path ends in .gz), so that its
/// tools and import_kineto read it: with what that profiler has not, such as the process of GPU work, as further
/// arguments and events (memory_events.hpp).
/// Nodes of an ONNX model are written as ONNX Runtime does; a trace that has them and no kernels is one of
/// import_onnxruntime. Memory: some 16 bytes an event beside the trace. Errors: not_found, io, each with the path and
/// what to do; nothing half written stays.
[[nodiscard]] base::Result<void> write_chrome_json(const Trace& trace, const std::string& path);

}  // namespace ridgeline::trace
