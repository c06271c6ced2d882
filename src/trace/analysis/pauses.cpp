// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/pauses.hpp"

#include <algorithm>

namespace ridgeline::trace {
namespace {

void unite(std::vector<TimeSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::vector<TimeSpan> out;
  for (const auto& one : spans)
    if (!out.empty() && one.start_ns <= out.back().end_ns)
      out.back().end_ns = std::max(out.back().end_ns, one.end_ns);
    else
      out.push_back(one);
  spans = std::move(out);
}

}  // namespace

std::vector<TimeSpan> without(const TimeSpan& whole, const std::vector<TimeSpan>& spans) {
  std::vector<TimeSpan> out;
  auto from = whole.start_ns;
  const auto first =
      std::partition_point(spans.begin(), spans.end(), [&](const auto& span) { return span.end_ns <= whole.start_ns; });
  for (auto span = first; span != spans.end() && span->start_ns < whole.end_ns; ++span) {
    if (span->start_ns > from) out.push_back({from, span->start_ns});
    from = std::max(from, span->end_ns);
  }
  if (from < whole.end_ns) out.push_back({from, whole.end_ns});
  return out;
}

std::map<ProcessDevice, std::vector<TimeSpan>> recording_pauses(const Trace& trace) {
  std::map<std::int64_t, std::vector<TimeSpan>> of_process;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (trace.ranges.kind[i] == RangeKind::overhead && trace.strings.text(trace.ranges.name[i]) == kRecordingPaused)
      of_process[trace.thread_lanes[trace.ranges.lane[i]].process].push_back(
          {trace.ranges.start_ns[i], trace.ranges.start_ns[i] + trace.ranges.duration_ns[i]});
  std::map<ProcessDevice, std::vector<TimeSpan>> out;
  if (of_process.empty()) return out;
  std::map<ProcessDevice, std::vector<TimeSpan>> work;
  for (const Spans* spans : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                             static_cast<const Spans*>(&trace.sets)})
    for (std::size_t i = 0; i < spans->size(); ++i) {
      const auto& lane = trace.gpu_lanes[spans->lane[i]];
      if (of_process.contains(lane.process))
        work[{lane.process, lane.device}].push_back({spans->start_ns[i], spans->start_ns[i] + spans->duration_ns[i]});
    }
  for (auto& [process, pauses] : of_process) unite(pauses);
  for (auto& [where, busy] : work) {
    unite(busy);
    for (const auto& pause : of_process[where.first])
      for (const auto& part : without(pause, busy)) out[where].push_back(part);
  }
  return out;
}

}  // namespace ridgeline::trace
