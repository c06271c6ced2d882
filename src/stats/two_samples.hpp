// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ridgeline::stats {

/// B over A of two independent samples.
struct SampleRatio {
  double ratio = 1;
  double low = 1;
  double high = 1;
  double p_value = 1;  ///< two-sided, of no difference
};

/// The ratio of geometric means with an interval of that confidence: Welch's t over logarithms (Welch 1947), freedom by
/// Satterthwaite. nullopt below `least` positive values a side, two at least.
[[nodiscard]] std::optional<SampleRatio> welch_ratio(std::span<const double> a, std::span<const double> b,
                                                     double confidence, std::size_t least = 3);

/// The difference of means, B - A, with a 95 % interval by Welch's t. nullopt below two values a side.
[[nodiscard]] std::optional<Estimate> welch_difference(std::span<const double> a, std::span<const double> b);

/// p-values adjusted for their number (Holm 1979): whoever takes those of at most 0.05 is wrong about any of them in 5
/// % of cases at most. In the order of the input.
[[nodiscard]] std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace ridgeline::stats
