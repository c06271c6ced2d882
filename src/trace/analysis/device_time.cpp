// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_time.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ridgeline::trace {
namespace {

struct DeviceWork {
  Intervals kernels;
  Intervals memory;
};

}  // namespace

std::int64_t measure_of_union(Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::int64_t sum = 0;
  std::int64_t reached = 0;
  bool any = false;
  for (const auto& [start, end] : intervals) {
    const auto from = any ? std::max(start, reached) : start;
    if (end > from) sum += end - from;
    reached = any ? std::max(reached, end) : end;
    any = true;
  }
  return sum;
}

std::vector<DeviceTime> device_times(const Trace& trace) {
  std::map<std::pair<std::int64_t, std::int32_t>, DeviceWork> by_device;
  const auto add = [&](const Spans& spans, Intervals DeviceWork::*kind) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto& lane = trace.gpu_lanes[spans.lane[i]];
      (by_device[{lane.process, lane.device}].*kind)
          .emplace_back(spans.start_ns[i], spans.start_ns[i] + spans.duration_ns[i]);
    }
  };
  add(trace.kernels, &DeviceWork::kernels);
  add(trace.copies, &DeviceWork::memory);
  add(trace.sets, &DeviceWork::memory);
  std::vector<DeviceTime> out;
  for (auto& [where, work] : by_device) {
    DeviceTime time;
    time.process = where.first;
    time.device = where.second;
    Intervals all = work.kernels;
    all.insert(all.end(), work.memory.begin(), work.memory.end());
    time.busy_ns = measure_of_union(all);
    time.kernel_ns = measure_of_union(work.kernels);
    time.copy_ns = measure_of_union(work.memory);
    time.both_ns = time.kernel_ns + time.copy_ns - time.busy_ns;
    const auto last =
        std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    time.span_ns = last->second - all.front().first;
    out.push_back(time);
  }
  return out;
}

}  // namespace ridgeline::trace
