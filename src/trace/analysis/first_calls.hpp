// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// Of each gap whether memory was allocated or code loaded in it that later steps have: cuDNN's at the first
/// convolution, a kernel's at its first launch. A call counts as one of every step where it comes again in the second
/// half of the steps; in a trace without steps where its gaps lie all over the time, but for those before a kernel's
/// first launch.
[[nodiscard]] std::vector<bool> first_calls(const AnalysedTrace& analysed);

/// That there was no warm-up, with what those gaps take; empty where that is little.
[[nodiscard]] schema::Message missing_warm_up(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
