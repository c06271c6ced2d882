// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace ridgeline::measure {

enum class Steadiness {
  unknown,  ///< fewer than kSteadyMinSamples
  steady,
  moving,  ///< times still fall, rise or jump by more than noise explains
};

inline constexpr int kSteadyMinSamples = 6;

/// Whether the later half of `samples` (in order of time) has a constant level: the medians of its thirds agree within
/// `tolerance` (a ratio) or within the noise, and do not fall steadily. The noise is taken from the scatter of batch
/// medians, not of single samples, so that slow disturbances of a shared machine do not pass for a trend. O(n),
/// allocates.
[[nodiscard]] Steadiness check_steadiness(std::span<const double> samples, double tolerance = 0.01);

}  // namespace ridgeline::measure
