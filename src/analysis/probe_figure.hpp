// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.hpp"
#include "schema/measurement.hpp"
#include "schema/objective.hpp"

namespace ridgeline::analysis {

/// What is kept of a probe, and of the baseline that it is compared with. Interpolated percentiles, whatever the number
/// of samples; which of them may be used, `count` tells.
struct ProbeFigure {
  std::int64_t count = 0;
  double median_ns = 0;
  double p90_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
  double ns_per_item = 0;  ///< of the timed window; 0: not known (latencies that the service wrote)
};
RL_DECLARE_JSON(ProbeFigure)

/// All 0 without samples.
[[nodiscard]] ProbeFigure figure_of(const schema::Measurement& measurement);

/// Medians, number by number: the baseline learned from several probes. Of an empty list: all 0.
[[nodiscard]] ProbeFigure median_figure(const std::vector<ProbeFigure>& figures);

/// How many times as slow the probe is by the objective: latency by the median, throughput by time an item (the median
/// where that is not known), p99 by the highest of the percentiles 99, 95, 90 and 50 that both numbers of samples
/// support. nullopt when one of the two holds nothing.
[[nodiscard]] std::optional<double> slow_down_ratio(const ProbeFigure& baseline, const ProbeFigure& probe,
                                                    schema::Objective objective);

/// The figure's value under the same rule, ns.
[[nodiscard]] double figure_value(const ProbeFigure& figure, const ProbeFigure& beside, schema::Objective objective);

}  // namespace ridgeline::analysis
