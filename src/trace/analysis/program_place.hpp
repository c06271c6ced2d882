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

/// Of a gap: where the work behind it was launched, or what the program did in place of that.
[[nodiscard]] std::string place_of_gap(const AnalysedTrace& analysed, const Gap& gap);

/// The call or the range itself: "cudaFree"; "" of none, and of a step, which says nothing.
[[nodiscard]] std::string name_of_blocker(const AnalysedTrace& analysed, const Blocker& blocker);

}  // namespace ridgeline::trace
