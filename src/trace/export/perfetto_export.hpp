// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Writes a trace for Perfetto (ui.perfetto.dev, trace_processor): its protobuf format, packed by gzip where the path
/// ends in .gz. No event is lost: what overlaps without nesting is drawn on further lanes of its stream or thread.
/// What is allocated and reserved of a GPU are counters. Times are the trace's nanoseconds, moved so that none is
/// negative. Kernels, copies and sets have arrows from their calls. Memory: some 30 bytes an event beside the trace.
/// Errors: not_found, io, each with the path and what to do; nothing half written stays.
[[nodiscard]] base::Result<void> write_perfetto(const Trace& trace, const std::string& path);

}  // namespace ridgeline::trace
