// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/interval.hpp"

namespace ridgeline::stats {

/// 0 without samples.
[[nodiscard]] double mean(std::span<const double> samples);
/// Unbiased; 0 for fewer than two samples.
[[nodiscard]] double variance(std::span<const double> samples);

/// Half width of an interval of that confidence by Student's t, in standard errors.
[[nodiscard]] double student_half_width(double freedom, double confidence = kConfidence);

/// Half width of the 95 % interval of the mean (Student's t over single samples). `estimated`: what was taken from the
/// samples beforehand, their mean included; infinite for no more samples than that.
[[nodiscard]] double mean_half_width(std::span<const double> samples, int estimated = 1);

/// Means of so many batches of consecutive samples, of no more than there are samples.
[[nodiscard]] std::vector<double> batch_means(std::span<const double> samples, std::size_t batches);

/// The mean with a 95 % interval by batch means (Law, Simulation Modeling and Analysis, 5th ed., section 9.5.3) of
/// samples in order of time: long batches carry the correlation inside them, so that their means are nearly
/// independent. nullopt below two samples.
[[nodiscard]] std::optional<Estimate> batch_mean(std::span<const double> samples, std::size_t batches);

}  // namespace ridgeline::stats
