// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/analysed_trace.hpp"

#include <unordered_map>

namespace ridgeline::trace {

AnalysedTrace::AnalysedTrace(const Trace& of)
    : trace(of),
      nesting(nest(of)),
      launches(of),
      steps(find_steps(of, nesting)),
      nodes(of.nodes),
      step_of_node(steps_of_nodes(of, steps)),
      attribution(attribute(of, nesting, launches, steps)),
      kernels(place(of.kernels)),
      copies(place(of.copies)),
      sets(place(of.sets)),
      observed(observed_times(of, launches, steps)),
      gaps(find_gaps(of, launches, nesting, observed)) {}

PlacedWork AnalysedTrace::place(const Spans& work) const {
  PlacedWork out;
  out.call = launches.calls_of(work);
  std::unordered_map<std::int64_t, std::size_t> launching;  // nodes of ONNX Runtime
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (trace.nodes.correlation[i] != 0) launching.emplace(trace.nodes.correlation[i], i);
  out.row.reserve(work.size());
  out.step.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto call = out.call[i];
    const auto node = launching.find(work.correlation[i]);
    if (call == kNowhere && node != launching.end()) {
      out.row.push_back(attribution.row_of_node[node->second]);
      out.step.push_back(step_of_node[node->second]);
      continue;
    }
    out.row.push_back(attribution.row_of_launch(call, nesting));
    out.step.push_back(steps.at(call == kNowhere ? work.start_ns[i] : trace.calls.start_ns[call]));
  }
  return out;
}

}  // namespace ridgeline::trace
