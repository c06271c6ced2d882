// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ridgeline::stats {

/// The fewest samples that have a median_interval.
inline constexpr int kLeastForMedian = 8;

/// Distribution-free 95 % interval of the median by order statistics (ranks of the sign test: Conover 1999, 3.2; Le
/// Boudec 2010, 2.2), widened by the lag-1 autocorrelation of "above the median". nullopt below kLeastForMedian samples
/// (or so few independent ones): no interval of that kind exists. `scratch` is overwritten; it allocates only to grow.
/// O(n): what quantile_interval says of sorted samples, for looks while they are still taken.
[[nodiscard]] std::optional<Estimate> median_interval(std::span<const double> samples, std::vector<double>& scratch);

}  // namespace ridgeline::stats
