// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// One trace of the traces of several processes, whose times are of one clock. Lanes keep their processes.
/// Correlations, which each process counts by itself, become distinct. A device and a note that several have are there
/// once.
[[nodiscard]] Trace merge_traces(std::vector<Trace> traces);

/// Adds the launches that another trace of the same program counted (Trace::counted), and nothing else of it.
void add_counted(Trace& into, Trace from);

}  // namespace ridgeline::trace
