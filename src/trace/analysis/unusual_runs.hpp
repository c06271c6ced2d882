// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Of each of Steps::steps whether it took more than twice as long as the median one; none of fewer than three.
[[nodiscard]] std::vector<bool> find_slow_runs(const Steps& steps);

/// Of each of Steps::steps whether it is a slow run of a model, on the host alone, for no more work: by the number of
/// its nodes, their bytes and their FLOPs. Another program had the processor, or it was a first run. A few such runs
/// would be most of a mean, so tables and findings leave them out whole, and what is left adds up. None if they are
/// many.
[[nodiscard]] std::vector<bool> find_unusual_runs(const Trace& trace, const Steps& steps,
                                                  const std::vector<Place>& step_of_node);

}  // namespace ridgeline::trace
