// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace ridgeline::stats {

inline std::vector<double> normal_samples(std::size_t count, std::uint64_t seed, double mean = 1000,
                                          double stdev = 50) {
  base::Random random(seed);
  std::vector<double> samples(count);
  for (double& value : samples) value = mean + stdev * random.normal();
  return samples;
}

/// AR(1) of unit variance around `mean`.
inline std::vector<double> correlated_samples(std::size_t count, std::uint64_t seed, double correlation, double mean) {
  base::Random random(seed);
  std::vector<double> samples(count);
  double state = random.normal();
  for (double& value : samples) {
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal();
    value = mean + state;
  }
  return samples;
}

}  // namespace ridgeline::stats
