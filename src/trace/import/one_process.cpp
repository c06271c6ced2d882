// SPDX-License-Identifier: Apache-2.0
#include "trace/import/one_process.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "trace/import/row_remover.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {

void keep_one_process_of_host(Trace& trace) {
  if (!trace.is_of_host()) return;
  const auto process_of = [&](LaneId lane) { return trace.thread_lanes[lane].process; };
  std::map<std::int64_t, double> times;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (trace.ranges.kind[i] != RangeKind::overhead)
      times[process_of(trace.ranges.lane[i])] += static_cast<double>(trace.ranges.duration_ns[i]);
  if (times.size() < 2) return;
  const auto kept = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                      return a.second < b.second;
                    })->first;
  std::int64_t left_out = 0;
  const auto keep = [&](auto& table) {
    Marks marks(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) marks[i] = process_of(table.lane[i]) != kept;
    left_out += std::count(marks.begin(), marks.end(), true);
    remove_rows(table, marks);
  };
  keep(trace.ranges);
  keep(trace.calls);
  trace.notes.push_back(
      messages::several_processes({.processes = std::ssize(times), .process = kept, .events = left_out}));
}

}  // namespace ridgeline::trace
