// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ridgeline::stats {

/// Linear-interpolated quantile (Hyndman and Fan 1996, type 7) of unsorted samples, q in 0..1. O(n). 0 without samples.
[[nodiscard]] double quantile(std::vector<double> samples, double q);
/// The same of sorted samples, O(1).
[[nodiscard]] double sorted_quantile(std::span<const double> sorted, double q);
/// quantile 0.5.
[[nodiscard]] double median(std::vector<double> samples);

/// Fewest samples from which quantile q is printed: 10 samples beyond it (q=0.99: 1000; 0.9: 100).
[[nodiscard]] std::int64_t samples_needed(double q) noexcept;

/// The largest of 0.99, 0.95, 0.9 and 0.5 that `count` samples support; 0.5 when they support none.
[[nodiscard]] double supported_tail(std::int64_t count) noexcept;

/// Distribution-free interval of a quantile: the order statistics whose ranks enclose the central `confidence` share of
/// a binomial(n, q) (Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2). Sorted input. Too few samples
/// for that confidence give the smallest or largest sample as a limit. Correlated samples count as n * effective_share:
/// the limits move outwards by 1/sqrt(effective_share).
[[nodiscard]] Interval quantile_interval(std::span<const double> sorted, double q, double confidence,
                                         double effective_share = 1);

/// Share of the time-ordered samples that count as independent for the position of `level`: 1 / (1 + 2 * sum of the
/// autocorrelations of "sample <= level"), summed up to Geyer's initial positive sequence (Statistical Science 7,
/// 1992). In (0, 1]. A spike therefore weighs no more than any other sample.
[[nodiscard]] double effective_share(std::span<const double> samples, double level);

}  // namespace ridgeline::stats
