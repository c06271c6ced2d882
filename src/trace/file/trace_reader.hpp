// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What a TraceWriter wrote, plain or packed by gzip. A file that ends early or is damaged gives what its whole blocks
/// up to there have, with a note. Errors: io; unsupported where a newer version wrote it; corrupt where it is no such
/// file, or where a block that is whole has what no trace can have.
[[nodiscard]] base::Result<Trace> read_trace_file(const std::string& path);

}  // namespace ridgeline::trace
