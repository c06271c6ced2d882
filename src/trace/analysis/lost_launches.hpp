// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trace/analysis/launch_index.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Calls that launch kernels or CUDA graphs.
struct LostLaunches {
  std::size_t lost = 0;  ///< no work of a GPU in the trace is theirs
  std::size_t all = 0;
  /// Not among these: several processes have one with its correlation, and the file does not tell whose work it is.
  std::size_t ambiguous = 0;
};

/// Launches that a stream captured into a graph do not count: they run nothing.
[[nodiscard]] LostLaunches lost_launches(const Trace& trace, const LaunchIndex& launches);

}  // namespace ridgeline::trace
