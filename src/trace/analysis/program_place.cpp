// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/program_place.hpp"

#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {

std::string python_line_of(const Trace& trace, const Nesting& nesting, Place range) {
  for (; range != kNowhere; range = nesting.parent_of_range[range]) {
    if (trace.ranges.kind[range] != RangeKind::python) continue;
    const auto name = trace.strings.text(trace.ranges.name[range]);
    // The user's own line, not that of a library which it calls.
    if (is_program_line(name)) return std::string(name);
  }
  return {};
}

std::string place_of_call(const AnalysedTrace& analysed, Place call) {
  return call == kNowhere ? std::string() : place_of_range(analysed, analysed.nesting.range_of_call[call]);
}

std::string place_of_range(const AnalysedTrace& analysed, Place range) {
  if (range == kNowhere) return {};
  auto line = python_line_of(analysed.trace, analysed.nesting, range);
  return line.empty() ? path_of(analysed.attribution, analysed.attribution.row_of_range[range]) : line;
}

std::string place_of_gap(const AnalysedTrace& analysed, const Gap& gap) {
  if (gap.cause != schema::IdleCause::host_work) return place_of_call(analysed, gap.call);
  const auto& by = gap.blocker;
  if (by.call != kNowhere) return place_of_call(analysed, by.call);
  auto name = name_of_blocker(analysed, by);
  if (name.empty()) return {};
  auto place = place_of_range(analysed, by.range);
  return place.empty() ? name : place;
}

std::string name_of_blocker(const AnalysedTrace& analysed, const Blocker& blocker) {
  const auto& trace = analysed.trace;
  if (blocker.call != kNowhere) return std::string(trace.strings.text(trace.calls.name[blocker.call]));
  if (blocker.range == kNowhere) return {};
  if (analysed.steps.is_number(blocker.range, trace.ranges.start_ns[blocker.range])) return {};
  return std::string(trace.strings.text(trace.ranges.name[blocker.range]));
}

}  // namespace ridgeline::trace
