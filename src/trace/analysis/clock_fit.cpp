// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clock_fit.hpp"

#include <algorithm>

namespace ridgeline::trace {

bool ClockFit::fits() const noexcept {
  constexpr std::int64_t kLongestWaitNs = 1'000'000'000;  // a host may be so many kernels ahead all the time
  return launched < 2 || (early * 10 < launched && least_wait_ns <= kLongestWaitNs);
}

ClockFit clock_fit(const Trace& trace, const std::vector<Place>& call) {
  ClockFit out;
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (call[i] == kNowhere) continue;
    const auto waited = trace.kernels.start_ns[i] - trace.calls.start_ns[call[i]];
    ++out.launched;
    out.early += waited < -kClockToleranceNs ? 1U : 0U;
    out.earliest_ns = std::max(out.earliest_ns, -waited);
    out.least_wait_ns = std::min(out.least_wait_ns, waited - trace.calls.duration_ns[call[i]]);
  }
  return out;
}

}  // namespace ridgeline::trace
