// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What programs allocated of each GPU, by process and device; of the host nothing. An allocation belongs to the place
/// that the file tells, or else to the row of the module tree that its thread was in.
[[nodiscard]] std::vector<schema::ProfileMemory> memory_rows(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
