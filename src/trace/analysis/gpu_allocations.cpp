// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gpu_allocations.hpp"

#include <algorithm>

namespace ridgeline::trace {

std::map<std::pair<std::int64_t, std::int32_t>, std::vector<std::size_t>> gpu_allocations(const Trace& trace) {
  const auto& all = trace.allocations;
  std::map<std::pair<std::int64_t, std::int32_t>, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all.device[i] >= 0) out[{trace.thread_lanes[all.lane[i]].process, all.device[i]}].push_back(i);
  for (auto& [gpu, rows] : out)
    std::stable_sort(rows.begin(), rows.end(), [&](auto one, auto other) {
      const bool held = all.kind[one] == AllocationKind::held;
      const bool other_held = all.kind[other] == AllocationKind::held;
      return held != other_held ? held : all.time_ns[one] < all.time_ns[other];
    });
  return out;
}

}  // namespace ridgeline::trace
