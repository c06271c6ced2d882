// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/counter_join.hpp"
#include "trace/kernel_counters.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Puts the counters of each launch of the trace into the row of its kernel. `kernels`: rows of all kernels of the
/// trace, as tables_of makes them.
void add_counters(const Trace& trace, const KernelCounters& counters, const CounterJoin& join,
                  std::vector<schema::ProfileKernel>& kernels);

}  // namespace ridgeline::trace
