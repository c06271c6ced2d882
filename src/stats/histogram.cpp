// SPDX-License-Identifier: Apache-2.0
#include "stats/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::stats {

// Values of one bin differ from its geometric middle by the root of the bin's ratio at most.
Histogram::Histogram(double lowest, double highest, double error)
    : lowest_(lowest),
      highest_(highest),
      log_ratio_(2 * std::log1p(error)),
      counts_(static_cast<std::size_t>(std::log(highest / lowest) / log_ratio_) + 1) {}

void Histogram::add(double value, std::uint64_t times) {
  const double inside = std::clamp(value, lowest_, highest_);
  const auto bin = static_cast<std::size_t>(std::log(inside / lowest_) / log_ratio_);
  counts_[std::min(bin, counts_.size() - 1)] += times;
  count_ += times;
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t bin = 0; bin < std::min(counts_.size(), other.counts_.size()); ++bin)
    counts_[bin] += other.counts_[bin];
  count_ += other.count_;
}

double Histogram::quantile(double q) const noexcept {
  if (count_ == 0) return 0;
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_))));
  std::uint64_t below = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    below += counts_[bin];
    if (below >= rank) return lowest_ * std::exp((static_cast<double>(bin) + 0.5) * log_ratio_);
  }
  return highest_;
}

}  // namespace ridgeline::stats
