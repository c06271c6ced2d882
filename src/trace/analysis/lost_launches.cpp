// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/lost_launches.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

/// Of each call whether processes share its correlation and the file does not tell which of them launched work: each
/// process counts for itself.
std::vector<bool> ambiguous_calls(const Trace& trace) {
  const auto& calls = trace.calls;
  std::vector<bool> out(calls.size());
  const bool knows_process = std::none_of(trace.gpu_lanes.begin(), trace.gpu_lanes.end(),
                                          [](const GpuLane& lane) { return lane.process == 0; });
  const bool is_one = std::all_of(trace.thread_lanes.begin(), trace.thread_lanes.end(), [&](const ThreadLane& lane) {
    return lane.process == trace.thread_lanes.front().process;
  });
  if (knows_process || is_one) return out;
  const auto process_of = [&](Place call) { return trace.thread_lanes[calls.lane[call]].process; };
  std::unordered_map<std::int64_t, std::int64_t> processes;  // the first that has a correlation
  std::unordered_set<std::int64_t> shared;
  for (Place call = 0; call < calls.size(); ++call) {
    const auto first = processes.try_emplace(calls.correlation[call], process_of(call)).first->second;
    if (first != process_of(call)) shared.insert(calls.correlation[call]);
  }
  for (Place call = 0; call < calls.size(); ++call) out[call] = shared.count(calls.correlation[call]) > 0;
  return out;
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
  const auto ambiguous = ambiguous_calls(trace);
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
        if (ambiguous[call]) {
          ++out.ambiguous;
          break;
        }
        ++out.all;
        out.lost += has_work[call] ? 0U : 1U;
      }
    }
  }
  return out;
}

}  // namespace ridgeline::trace
