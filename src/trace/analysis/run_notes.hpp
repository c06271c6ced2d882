// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/message.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// How the runs of an ONNX model differ from each other: slow ones, left out or not, and nodes that some of them have.
[[nodiscard]] std::vector<schema::Message> run_notes(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
