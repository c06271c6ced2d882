// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::stream {

bool is_distribution(std::span<const float> values) noexcept {
  constexpr double kTolerance = 0.01;
  double sum = 0;
  for (const float value : values) {
    if (!(value >= 0)) return false;
    sum += static_cast<double>(value);
  }
  return std::abs(sum - 1) <= kTolerance;
}

float softmax_at(std::span<const float> logits, std::size_t place) noexcept {
  const float highest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  return std::exp(logits[place] - highest) / sum;
}

}  // namespace ridgeline::stream
