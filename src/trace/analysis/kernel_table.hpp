// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// All launches of one kernel, by its name. Times in nanoseconds on the GPU; launches that overlap count each.
struct KernelRow {
  NameId name = 0;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
};

/// The longest in total first; equal ones by their names.
[[nodiscard]] std::vector<KernelRow> kernel_table(const Trace& trace);

}  // namespace ridgeline::trace
