// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "schema/profile.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// Writes the events of a run that is made to FOLDER/RUN.rltrace, whose path is the run's `trace_file` from then on.
/// Where that fails (a full disk, a folder that is read-only), the run has a note instead. `folder`: "" keeps nothing.
void keep_trace(const trace::Trace& trace, const std::string& folder, schema::ProfileRun& run);

/// The events of a stored run. Errors: not_found where none were kept, or the file is gone; those of read_trace_file.
[[nodiscard]] base::Result<trace::Trace> kept_trace(const schema::ProfileRun& run);

}  // namespace ridgeline::campaign
