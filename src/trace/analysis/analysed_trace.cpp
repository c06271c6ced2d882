// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

AnalysedTrace::AnalysedTrace(const Trace& of)
    : trace(of),
      nesting(nest(of)),
      launches(of),
      steps(find_steps(of, nesting)),
      attribution(attribute(of, nesting, launches, steps)),
      kernels(place(of.kernels)),
      copies(place(of.copies)),
      sets(place(of.sets)),
      observed(observed_times(of, launches, steps)),
      gaps(find_gaps(of, launches, nesting, observed)) {}

PlacedWork AnalysedTrace::place(const Spans& work) const {
  PlacedWork out;
  out.call = launches.calls_of(work);
  out.row.reserve(work.size());
  out.step.reserve(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto call = out.call[i];
    out.row.push_back(attribution.row_of_launch(call, nesting));
    out.step.push_back(steps.at(call == kNowhere ? work.start_ns[i] : trace.calls.start_ns[call]));
  }
  return out;
}

}  // namespace ridgeline::trace
