// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridgeline::stats {

/// Counts of durations in whole nanoseconds, log-linear as HdrHistogram's: exact below 2048 ns, above to three
/// significant digits (a bin is at most 1/1024 of its value wide). Adding takes no logarithm and, once the largest
/// value was seen, no memory. About 8 KiB for each power of two up to the largest value. Not thread-safe: one a
/// thread, merged at the end.
class LatencyHistogram {
 public:
  /// A negative duration counts as 0.
  void add(std::int64_t ns, std::uint64_t times = 1);
  void merge(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The smallest value that a share `q` (0 to 1) of the values does not exceed, as the middle of its bin and never
  /// more than the largest value; 0 without values.
  [[nodiscard]] std::int64_t quantile(double q) const noexcept;
  /// Values above `ns`, to the width of a bin.
  [[nodiscard]] std::uint64_t count_above(std::int64_t ns) const noexcept;
  /// Exact; 0 without values.
  [[nodiscard]] std::int64_t max() const noexcept { return max_; }
  /// Exact but for rounding; 0 without values.
  [[nodiscard]] double mean() const noexcept;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace ridgeline::stats
