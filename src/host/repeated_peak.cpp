// SPDX-License-Identifier: Apache-2.0
#include "host/repeated_peak.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

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

std::string RepeatedPeak::text(double unit) const {
  std::string out;
  for (std::size_t i = 0; i < rates_.size(); ++i)
    out += fmt::format("{}{:.2g}", i == 0 ? "" : i + 1 == rates_.size() ? " and " : ", ", rates_[i] / unit);
  return out;
}

}  // namespace ridgeline::host
