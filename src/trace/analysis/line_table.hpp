// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// A row for each line of the program that is known to have launched work or waited for the GPU.
[[nodiscard]] std::vector<schema::ProfileLine> line_rows(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
