// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/awaited_work.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/utf8.hpp"
#include "schema/kernel_name.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kAwaitedColumns = 60;

/// Puts into a stream that it waits for an event, a value in memory or a function of the host.
bool lets_stream_wait(std::string_view call) {
  for (const std::string_view part : {"StreamWait", "LaunchHostFunc", "StreamAddCallback"})
    if (call.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace

AwaitedWork::AwaitedWork(const AnalysedTrace& analysed)
    : analysed_(analysed), calls_(analysed.trace.thread_lanes.size()) {
  const auto& trace = analysed.trace;
  std::vector<bool> matters(trace.calls.size());
  const auto add = [&](const Spans& spans, const PlacedWork& placed) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto& lane = trace.gpu_lanes[spans.lane[i]];
      work_[{lane.process, lane.device}].push_back(
          {spans.start_ns[i] + spans.duration_ns[i], spans.start_ns[i], spans.name[i], spans.lane[i]});
      if (placed.call[i] != kNowhere) matters[placed.call[i]] = true;
    }
  };
  add(trace.kernels, analysed.kernels);
  add(trace.copies, analysed.copies);
  add(trace.sets, analysed.sets);
  for (auto& [device, work] : work_)
    std::stable_sort(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
  std::unordered_map<NameId, bool> waits;
  for (Place i = 0; i < trace.calls.size(); ++i) {
    const auto [found, is_new] = waits.try_emplace(trace.calls.name[i], false);
    if (is_new) found->second = lets_stream_wait(trace.strings.text(trace.calls.name[i]));
    if (matters[i] || found->second) calls_[trace.calls.lane[i]].push_back(i);
  }
  for (auto& calls : calls_)
    std::stable_sort(calls.begin(), calls.end(),
                     [&](Place a, Place b) { return trace.calls.start_ns[a] < trace.calls.start_ns[b]; });
}

schema::Message AwaitedWork::of(const Gap& gap) const {
  const auto& trace = analysed_.trace;
  const auto call = waiting_call(gap);
  if (const auto work = work_that_ends(gap, call == kNowhere)) {
    const auto& lane = trace.gpu_lanes[work->lane];
    return messages::until_work_ends(
        {.name = base::shorten(schema::short_kernel_name(std::string(trace.strings.text(work->name))), kAwaitedColumns),
         .device = lane.device,
         .stream = lane.stream,
         .process = lane.process == gap.process ? std::nullopt : std::optional(lane.process)});
  }
  if (call == kNowhere) return {};
  return messages::behind_call(std::string(trace.strings.text(trace.calls.name[call])));
}

/// Between the launch and that before it on the same thread.
Place AwaitedWork::waiting_call(const Gap& gap) const {
  if (gap.call == kNowhere) return kNowhere;
  const auto& trace = analysed_.trace;
  const auto& calls = calls_[trace.calls.lane[gap.call]];
  const auto launched = trace.calls.start_ns[gap.call];
  const auto first = std::partition_point(calls.begin(), calls.end(),
                                          [&](Place call) { return trace.calls.start_ns[call] < launched; });
  const auto at = std::find(first, calls.end(), gap.call);
  if (at == calls.begin() || at == calls.end()) return kNowhere;
  const auto before = *(at - 1);
  return lets_stream_wait(trace.strings.text(trace.calls.name[before])) ? before : kNowhere;
}

/// That which ends last before the gap does, and no longer before it than a GPU takes to go on. Other GPUs end work all
/// the time: where no call says that the stream waits, it has to run for most of the gap.
std::optional<AwaitedWork::Work> AwaitedWork::work_that_ends(const Gap& gap, bool must_fill) const {
  std::optional<Work> best;
  for (const auto& [device, work] : work_) {
    if (device == ProcessDevice{gap.process, gap.device}) continue;
    auto at = std::partition_point(work.begin(), work.end(), [&](const auto& one) { return one.end_ns <= gap.end_ns; });
    while (at != work.begin() && (--at)->end_ns > gap.end_ns - kLongestTurnNs) {
      if (must_fill && at->start_ns > gap.start_ns + gap.duration_ns() / 2) continue;
      if (!best || at->end_ns > best->end_ns) best = *at;
      break;
    }
  }
  return best;
}

}  // namespace ridgeline::trace
