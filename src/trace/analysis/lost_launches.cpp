// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/lost_launches.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ridgeline::trace {
namespace {

enum class CallKind { other, launch, begin_capture, end_capture };

CallKind kind_of(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("StreamBeginCapture")) return CallKind::begin_capture;
  if (has("StreamEndCapture")) return CallKind::end_capture;
  return has("GraphLaunch") || (has("Launch") && has("Kernel")) ? CallKind::launch : CallKind::other;
}

}  // namespace

LostLaunches lost_launches(const Trace& trace, const LaunchIndex& launches) {
  const auto& calls = trace.calls;
  // Work that says nothing of its launch may be that of any.
  if (std::find(trace.kernels.correlation.begin(), trace.kernels.correlation.end(), 0) !=
      trace.kernels.correlation.end())
    return {};
  std::vector<bool> has_work(calls.size());
  for (const Spans* work : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                            static_cast<const Spans*>(&trace.sets)})
    for (const auto call : launches.calls_of(*work))
      if (call != kNowhere) has_work[call] = true;
  std::unordered_map<NameId, CallKind> kinds;
  std::vector<Place> order;  // of calls that matter
  for (Place i = 0; i < calls.size(); ++i) {
    const auto [found, is_new] = kinds.try_emplace(calls.name[i], CallKind::other);
    if (is_new) found->second = kind_of(trace.strings.text(calls.name[i]));
    if (found->second != CallKind::other) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](Place a, Place b) { return calls.start_ns[a] < calls.start_ns[b]; });
  LostLaunches out;
  std::map<std::int64_t, int> captures;  // that are open, by process
  for (const auto call : order) {
    const auto process = trace.thread_lanes[calls.lane[call]].process;
    switch (kinds.at(calls.name[call])) {
      case CallKind::begin_capture: ++captures[process]; break;
      case CallKind::end_capture: captures[process] = std::max(0, captures[process] - 1); break;
      default: {
        const auto correlation = calls.correlation[call];
        const auto outer = launches.call_of(process, correlation);
        if (correlation == 0 || captures[process] > 0 || outer != call) break;
        ++out.all;
        out.lost += has_work[call] ? 0U : 1U;
      }
    }
  }
  return out;
}

}  // namespace ridgeline::trace
