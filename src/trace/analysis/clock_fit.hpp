// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// How far a kernel may begin before its launch: profilers align the clocks of GPU and host to microseconds.
inline constexpr std::int64_t kClockToleranceNs = 100'000;

/// How the times of GPU and host fit: work neither begins before its launch, nor does all of it begin long after.
struct ClockFit {
  std::size_t launched = 0;  ///< kernels whose launch is known
  std::size_t early = 0;     ///< of these, that begin before it, by more than the tolerance
  std::int64_t earliest_ns = 0;
  std::int64_t least_wait_ns = std::numeric_limits<std::int64_t>::max();  ///< from a launch's end to its kernel

  /// Not where a tenth begins early, nor where each begins more than a second late.
  [[nodiscard]] bool fits() const noexcept;
};

/// `call`: that launched each kernel; kNowhere: not known.
[[nodiscard]] ClockFit clock_fit(const Trace& trace, const std::vector<Place>& call);

}  // namespace ridgeline::trace
