// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::stream {

/// How frames of a source come.
enum class ArrivalProcess {
  fixed,    ///< one an interval, as a camera's, each moved by the jitter; the first somewhere in the first interval
  poisson,  ///< independent of each other
  burst,    ///< gamma-distributed gaps with a coefficient of variation above 1
  trace,    ///< at the times given
};

struct SourceLoad {
  ArrivalProcess process = ArrivalProcess::fixed;
  double rate_per_s = 30;  ///< mean; not of a trace
  double jitter = 0;       ///< of `fixed`: a frame comes up to half this share of an interval early or late; 0 to 1
  double variation = 3;    ///< of `burst`: standard deviation of the gaps over their mean; 1 to 20
  std::vector<std::int64_t> times_ns{};  ///< of `trace`: since the start, not decreasing
};

struct Arrival {
  std::int64_t at_ns = 0;  ///< since the start
  std::uint32_t source = 0;
  std::uint64_t sequence = 0;  ///< within its source, from 0

  bool operator==(const Arrival&) const = default;
};

/// All arrivals of a run, fixed before it begins (open loop), so that a slow pipeline cannot slow down its own load. By
/// time. The same seed gives the same arrivals, and a source's do not depend on the other sources. Gaps scale with
/// 1/rate at the same seed, which makes rates comparable. invalid_argument for values out of range, and for more than
/// 10^9 arrivals.
[[nodiscard]] base::Result<std::vector<Arrival>> make_schedule(const std::vector<SourceLoad>& sources,
                                                               std::int64_t duration_ns, std::uint64_t seed);

}  // namespace ridgeline::stream
