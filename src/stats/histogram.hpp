// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace ridgeline::stats {

/// Counts of positive values in bins of equal ratio, so that a quantile of any number of values is known to the same
/// share of itself in fixed memory (as HdrHistogram and DDSketch do: Masson, Rim and Lee 2019). Not thread-safe.
class Histogram {
 public:
  /// Values from `lowest` to `highest` (above 0, lowest < highest) to `error` (0 < error < 1) of themselves. Values
  /// beyond are counted as the nearer end.
  Histogram(double lowest, double highest, double error);

  void add(double value, std::uint64_t times = 1);
  /// Adds the counts of one with the same bounds and error.
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The smallest value that a share `q` (0 to 1) of the values does not exceed, as the middle of its bin; 0 without
  /// values.
  [[nodiscard]] double quantile(double q) const noexcept;

 private:
  double lowest_;
  double highest_;
  double log_ratio_;  ///< of a bin's ends
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
};

}  // namespace ridgeline::stats
