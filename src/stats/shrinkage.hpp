// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::stats {

/// What was seen, pulled towards what was believed before: the mean of the two by weight, (w0 prior + w seen)/(w0 + w).
/// Of means, with weights in observations, that is the posterior mean of a normal mean (Gelman et al., Bayesian Data
/// Analysis, 3rd ed., section 2.5); of variances, with weights in degrees of freedom, the posterior one of the scaled
/// inverse chi-square (Smyth 2004, section 3). Without anything seen it is the prior exactly.
[[nodiscard]] constexpr double shrunk(double prior, double prior_weight, double seen, double weight) noexcept {
  return weight > 0 ? (prior_weight * prior + weight * seen) / (prior_weight + weight) : prior;
}

}  // namespace ridgeline::stats
