// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeless_kernels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ridgeline::trace {

void doubt_gaps_behind_timeless_kernels(const Trace& trace, std::vector<Gap>& gaps) {
  const auto& kernels = trace.kernels;
  std::map<LaneId, std::set<std::int64_t>> starts;  // of streams with such kernels
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels.duration_ns[i] == 0) starts.try_emplace(kernels.lane[i]);
  if (starts.empty()) return;
  for (const Spans* work : {static_cast<const Spans*>(&kernels), static_cast<const Spans*>(&trace.copies),
                            static_cast<const Spans*>(&trace.sets)})
    for (std::size_t i = 0; i < work->size(); ++i)
      if (const auto found = starts.find(work->lane[i]); found != starts.end()) found->second.insert(work->start_ns[i]);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.duration_ns[i] != 0) continue;
    const auto begin = kernels.start_ns[i];
    const auto& lane = trace.gpu_lanes[kernels.lane[i]];
    const auto is_before = [&](const Gap& gap) {
      return std::tie(gap.process, gap.device, gap.end_ns) <= std::tie(lane.process, lane.device, begin);
    };
    const auto gap = std::partition_point(gaps.begin(), gaps.end(), is_before);
    if (gap == gaps.end() || gap->process != lane.process || gap->device != lane.device) continue;
    const auto& of_stream = starts[kernels.lane[i]];
    const auto next = of_stream.upper_bound(begin);
    if (next != of_stream.end() && *next <= gap->start_ns) continue;
    gap->cause = schema::IdleCause::unknown;
    gap->blocker = {};
  }
}

}  // namespace ridgeline::trace
