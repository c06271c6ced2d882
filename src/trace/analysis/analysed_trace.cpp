// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/analysed_trace.hpp"

#include <unordered_map>

#include "trace/analysis/range_names.hpp"
#include "trace/analysis/timeless_kernels.hpp"

namespace ridgeline::trace {

AnalysedTrace::AnalysedTrace(const Trace& of)
    : trace(of),
      nesting(nest(of)),
      launches(of),
      steps(find_steps(of, nesting)),
      nodes(of.nodes),
      step_of_node(steps_of_nodes(of, steps)),
      unusual_runs(find_unusual_runs(of, steps, step_of_node)),
      attribution(attribute(of, nesting, launches, steps)),
      lines(of, nesting),
      kernels(place_kernels()),
      copies(place(of.copies)),
      sets(place(of.sets)),
      clocks(clock_fit(of, kernels.call)),
      is_collective(find_collectives()),
      observed(observed_times(of, launches, steps)),
      gaps(find_gaps(of, launches, nesting, steps, observed)) {
  doubt_gaps_behind_timeless_kernels(of, gaps);
  if (knows_idle_time()) return;
  for (auto& gap : gaps) {
    gap.cause = schema::IdleCause::unknown;
    gap.blocker = {};
  }
}

std::vector<std::string_view> AnalysedTrace::names_around(Place call) const {
  std::vector<std::string_view> out;
  for (auto range = call == kNowhere ? kNowhere : nesting.range_of_call[call]; range != kNowhere;
       range = nesting.parent_of_range[range])
    out.push_back(trace.strings.text(trace.ranges.name[range]));
  return out;
}

/// By its own name, or by the operation or annotation that launched it: names of kernels are the library's affair.
std::vector<bool> AnalysedTrace::find_collectives() const {
  std::unordered_map<NameId, bool> kernel_names;
  std::unordered_map<NameId, bool> range_names;
  const auto known = [&](auto& names, NameId name, auto is) {
    const auto [found, is_new] = names.try_emplace(name, false);
    if (is_new) found->second = is(trace.strings.text(name));
    return found->second;
  };
  const auto launched_by_collective = [&](Place call) {
    for (auto range = call == kNowhere ? kNowhere : nesting.range_of_call[call]; range != kNowhere;
         range = nesting.parent_of_range[range]) {
      const auto kind = trace.ranges.kind[range];
      if (kind != RangeKind::python && known(range_names, trace.ranges.name[range], is_collective_range)) return true;
      if (kind == RangeKind::operation) return false;  // a copy that the collective makes, say
    }
    return false;
  };
  // Launched within a collective as well, for all that: what PyTorch's own kernels and products of matrices are.
  const auto computes = [](std::string_view name) {
    for (const std::string_view part : {"at::native", "gemm", "gemv", "cutlass", "cudnn", "conv", "flash"})
      if (name.find(part) != std::string_view::npos) return true;
    return false;
  };
  std::unordered_map<NameId, bool> computing_names;
  std::vector<bool> out;
  out.reserve(trace.kernels.size());
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const auto name = trace.kernels.name[i];
    out.push_back(known(kernel_names, name, is_collective_kernel) ||
                  (launched_by_collective(kernels.call[i]) && !known(computing_names, name, computes)));
  }
  return out;
}

PlacedWork AnalysedTrace::place_kernels() const {
  auto out = place(trace.kernels);
  if (attribution.row_of_graph_node.empty()) return out;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i)
    if (const auto row = attribution.row_of_graph_kernel(trace, i); row != kNowhere) out.row[i] = row;
  return out;
}

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
