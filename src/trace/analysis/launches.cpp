// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launches.hpp"

namespace ridgeline::trace {

Launches::Launches(const Trace& trace) : trace_(trace) {
  const auto& calls = trace.calls;
  launched_.reserve(calls.size() * 2);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls.correlation[i] == 0) continue;
    // Of several calls of one correlation (runtime and driver) the outer one, which the program made, begins first.
    for (const auto process : {trace.thread_lanes[calls.lane[i]].process, std::int64_t{0}}) {
      const auto [found, is_new] = launched_.try_emplace({process, calls.correlation[i]}, static_cast<Place>(i));
      if (!is_new && calls.start_ns[i] < calls.start_ns[found->second]) found->second = static_cast<Place>(i);
    }
  }
}

Place Launches::call_of(std::int64_t process, std::int64_t correlation) const {
  const auto found = launched_.find({process, correlation});
  return correlation == 0 || found == launched_.end() ? kNowhere : found->second;
}

std::vector<Place> Launches::calls_of(const Spans& spans) const {
  std::vector<Place> out(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i)
    out[i] = call_of(trace_.gpu_lanes[spans.lane[i]].process, spans.correlation[i]);
  return out;
}

}  // namespace ridgeline::trace
