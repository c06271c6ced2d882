// SPDX-License-Identifier: Apache-2.0
#include "host/repeated_peak.hpp"

#include <algorithm>
#include <functional>

namespace ridgeline::host {
namespace {

constexpr std::size_t kLeastMeasurements = 3;
constexpr double kAlike = 0.9;

}  // namespace

bool RepeatedPeak::repeats() const {
  if (rates_.size() < kLeastMeasurements) return false;
  auto sorted = rates_;
  std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
  return sorted[0] > 0 && sorted[1] >= kAlike * sorted[0];
}

double RepeatedPeak::value() const { return repeats() ? *std::max_element(rates_.begin(), rates_.end()) : 0; }

std::vector<double> RepeatedPeak::rates(double unit) const {
  auto out = rates_;
  for (auto& rate : out) rate /= unit;
  return out;
}

}  // namespace ridgeline::host
