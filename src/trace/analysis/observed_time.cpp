// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/observed_time.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ridgeline::trace {
namespace {

// What lies further from the GPU's work than any recording is long has a time that is wrong.
constexpr std::int64_t kLongestRecordingNs = std::int64_t{24} * 3600 * 1'000'000'000;

void widen(std::optional<TimeSpan>& extent, const Spans& spans, std::size_t i) {
  const auto start = spans.start_ns[i];
  const auto end = start + spans.duration_ns[i];
  extent = extent ? TimeSpan{std::min(extent->start_ns, start), std::max(extent->end_ns, end)} : TimeSpan{start, end};
}

/// What each thread did in all around the GPU's work; nullopt: nothing. The profiler's own work is none of the
/// program's.
std::vector<std::optional<TimeSpan>> extents_of_threads(const Trace& trace, const TimeSpan& work) {
  std::vector<std::optional<TimeSpan>> out(trace.thread_lanes.size());
  const auto see = [&](const Spans& spans, std::size_t i) {
    if (spans.start_ns[i] >= work.start_ns - kLongestRecordingNs &&
        spans.start_ns[i] + spans.duration_ns[i] <= work.end_ns + kLongestRecordingNs)
      widen(out[spans.lane[i]], spans, i);
  };
  for (std::size_t i = 0; i < trace.calls.size(); ++i) see(trace.calls, i);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (trace.ranges.kind[i] != RangeKind::overhead) see(trace.ranges, i);
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
      if (calls[i] != kNowhere) {
        const auto thread = trace.calls.lane[calls[i]];
        if (is_new || end > time.last_work_ns) time.last_thread = thread;
        auto& threads = launching[found->first];
        threads.resize(trace.thread_lanes.size());
        threads[thread] = true;
      }
      time.first_work_ns = std::min(time.first_work_ns, start);
      time.last_work_ns = std::max(time.last_work_ns, end);
    }
  }
  std::optional<TimeSpan> of_steps;
  for (const auto& step : steps.steps) widen(of_steps, trace.ranges, step.range);
  std::optional<TimeSpan> work;
  for (const auto& [device, time] : out)
    work = work ? TimeSpan{std::min(work->start_ns, time.first_work_ns), std::max(work->end_ns, time.last_work_ns)}
                : TimeSpan{time.first_work_ns, time.last_work_ns};
  const auto extents = of_steps || !work ? std::vector<std::optional<TimeSpan>>() : extents_of_threads(trace, *work);
  for (auto& [device, time] : out) {
    time.start_ns = time.first_work_ns;
    time.end_ns = time.last_work_ns;
    const auto see = [&time = time](const TimeSpan& extent) {
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
  for (const auto& [device, pauses] : recording_pauses(trace)) {
    auto& time = out.at(device);
    time.paused_ns = time.end_ns - time.start_ns;
    for (const auto& part : without({time.start_ns, time.end_ns}, pauses)) time.paused_ns -= part.duration_ns();
  }
  return out;
}

}  // namespace ridgeline::trace
