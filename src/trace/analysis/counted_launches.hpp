// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"
#include "trace/analysis/counter_join.hpp"
#include "trace/kernel_counters.hpp"

namespace ridgeline::trace {

/// Trace::counted as a profiler's counters, a row for each, with the names that Nsight Compute has.
[[nodiscard]] KernelCounters counters_of(const Trace& trace);

/// Which of these rows belongs to each kernel. A kernel is compared with the launches of one counted step, the one of
/// its own number if that was counted, else first with the fullest: the same function with the same grid and block
/// below the same ranges, of several that one of the same place in the order of its step. Ranges that differ in a
/// number only are the next best, and where the ranges of one side are unknown, the function, grid and block have to
/// do. Kernels of a CUDA graph are compared by the ranges around its capture; no launch of a whole graph is divided.
[[nodiscard]] CounterJoin join_counted(const AnalysedTrace& analysed);

/// CUDA graphs that were counted as a whole, those with the most bytes first.
[[nodiscard]] std::vector<schema::ProfileGraph> counted_graphs(const Trace& trace);

}  // namespace ridgeline::trace
