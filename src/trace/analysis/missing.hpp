// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/message.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What the trace lacks for more to be known, each with the flag that records it.
[[nodiscard]] std::vector<schema::Message> missing_in(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
