// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/observed_time.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ridgeline::trace {
namespace {

struct Extent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

void widen(std::optional<Extent>& extent, const Spans& spans, std::size_t i) {
  const auto start = spans.start_ns[i];
  const auto end = start + spans.duration_ns[i];
  extent = extent ? Extent{std::min(extent->start_ns, start), std::max(extent->end_ns, end)} : Extent{start, end};
}

/// What each thread did in all; nullopt: nothing. The profiler's own work is none of the program's.
std::vector<std::optional<Extent>> extents_of_threads(const Trace& trace) {
  std::vector<std::optional<Extent>> out(trace.thread_lanes.size());
  for (std::size_t i = 0; i < trace.calls.size(); ++i) widen(out[trace.calls.lane[i]], trace.calls, i);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (trace.ranges.kind[i] != RangeKind::overhead) widen(out[trace.ranges.lane[i]], trace.ranges, i);
  return out;
}

}  // namespace

std::map<ProcessDevice, ObservedTime> observed_times(const Trace& trace, const LaunchIndex& launches,
                                                     const Steps& steps) {
  std::map<ProcessDevice, ObservedTime> out;
  std::map<ProcessDevice, std::vector<bool>> launching;  // threads
  for (const Spans* work : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                            static_cast<const Spans*>(&trace.sets)}) {
    const auto calls = launches.calls_of(*work);
    for (std::size_t i = 0; i < work->size(); ++i) {
      const auto& lane = trace.gpu_lanes[work->lane[i]];
      const auto start = work->start_ns[i];
      const auto end = start + work->duration_ns[i];
      const auto [found, is_new] = out.try_emplace({lane.process, lane.device}, ObservedTime{start, end, start, end});
      auto& time = found->second;
      const bool known = calls[i] != kNowhere;
      const auto thread = known ? trace.calls.lane[calls[i]] : 0;
      if (is_new || start < time.first_work_ns) time.first_thread = known ? thread : time.first_thread;
      if (is_new || end > time.last_work_ns) time.last_thread = known ? thread : time.last_thread;
      time.first_work_ns = std::min(time.first_work_ns, start);
      time.last_work_ns = std::max(time.last_work_ns, end);
      if (!known) continue;
      auto& threads = launching[found->first];
      threads.resize(trace.thread_lanes.size());
      threads[thread] = true;
    }
  }
  std::optional<Extent> of_steps;
  for (const auto& step : steps.steps) widen(of_steps, trace.ranges, step.range);
  const auto extents = of_steps ? std::vector<std::optional<Extent>>() : extents_of_threads(trace);
  for (auto& [device, time] : out) {
    time.start_ns = time.first_work_ns;
    time.end_ns = time.last_work_ns;
    const auto see = [&time = time](const Extent& extent) {
      time.start_ns = std::min(time.start_ns, extent.start_ns);
      time.end_ns = std::max(time.end_ns, extent.end_ns);
    };
    if (of_steps) {
      see(*of_steps);
      time.last_thread = trace.ranges.lane[steps.steps.back().range];
    }
    const auto& threads = launching[device];
    for (std::size_t i = 0; i < std::min(threads.size(), extents.size()); ++i)
      if (threads[i] && extents[i]) see(*extents[i]);
  }
  return out;
}

}  // namespace ridgeline::trace
