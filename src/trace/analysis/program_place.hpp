// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// The user's Python line that a range stands in, itself included: "train.py(41): step"; "" where the trace has none,
/// and for kNowhere.
[[nodiscard]] std::string python_line_of(const Trace& trace, const Nesting& nesting, Place range);

/// Where the program made a call, or was within a range: the user's Python line, or else the path of the module; ""
/// where neither is known.
[[nodiscard]] std::string place_of_call(const AnalysedTrace& analysed, Place call);
[[nodiscard]] std::string place_of_range(const AnalysedTrace& analysed, Place range);

}  // namespace ridgeline::trace
