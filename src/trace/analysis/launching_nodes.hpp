// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// For each of Trace::calls the innermost node of ONNX Runtime that its thread ran then, into Trace::nodes; kNowhere:
/// none. Empty if there are no nodes, or no calls that are joined with what they launched.
[[nodiscard]] std::vector<Place> nodes_of_calls(const Trace& trace);

}  // namespace ridgeline::trace
