// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "stream/simulation.hpp"

namespace ridgeline::stream {

/// What a rate has to keep to be sustainable.
struct RateLimits {
  double quantile = 0.99;  ///< of the latency of delivered frames, which the SLO bounds
  double drops = 0.001;    ///< the largest share of frames dropped
};

/// The highest rate of Poisson arrivals from one source that keeps the limits, by bisection between 0 and
/// `highest_per_s` to 1/1024 of it; every probe has `frames` frames and the same arrivals but for their pace.
/// `options.slo_ns` is needed. 0 when no rate keeps them.
[[nodiscard]] base::Result<double> find_peak_rate(const SimulationOptions& options, double highest_per_s,
                                                  std::size_t frames, const RateLimits& limits = {});

}  // namespace ridgeline::stream
