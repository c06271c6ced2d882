// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launching_lines.hpp"

#include "trace/analysis/range_names.hpp"
#include "trace/analysis/range_paths.hpp"

namespace ridgeline::trace {
namespace {

/// What a range says of the line within it, `above` around it.
std::string_view line_within(RangeKind kind, std::string_view name, std::string_view above) {
  // What is around a backward pass called none of its modules.
  if (kind == RangeKind::annotation && name == kBackwardPass) return {};
  if (kind != RangeKind::python) return above;
  if (is_program_line(name)) return name;
  const auto line = module_line(name);
  return line.empty() ? above : line;
}

}  // namespace

LaunchingLines::LaunchingLines(const Trace& trace, const Nesting& nesting)
    : trace_(trace), nesting_(nesting), of_range_(trace.ranges.size()) {
  for (const auto range : nesting.range_order) {  // what is around a range comes before it
    const auto parent = nesting.parent_of_range[range];
    of_range_[range] = line_within(trace.ranges.kind[range], trace.strings.text(trace.ranges.name[range]),
                                   parent == kNowhere ? std::string_view() : of_range_[parent]);
  }
  for (const auto& node : trace.graph_nodes) {
    auto& line = of_graph_node_[{node.process, node.node}];
    each_part(trace.strings.text(node.path),
              [&](RangeKind kind, std::string_view name) { line = line_within(kind, name, line); });
  }
}

std::string_view LaunchingLines::of_call(Place call) const {
  const auto range = call == kNowhere ? kNowhere : nesting_.range_of_call[call];
  return range == kNowhere ? std::string_view() : of_range_[range];
}

std::string_view LaunchingLines::of_kernel(std::size_t kernel, Place call) const {
  if (const auto node = trace_.kernels.graph_node[kernel]; node != 0 && !of_graph_node_.empty()) {
    const auto found = of_graph_node_.find({trace_.gpu_lanes[trace_.kernels.lane[kernel]].process, node});
    if (found != of_graph_node_.end()) return found->second;
  }
  return of_call(call);
}

}  // namespace ridgeline::trace
