// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace ridgeline::stream {

/// The last ratios (above 0) of a measured time to an expected one. One outlier among 20 or more moves neither the mean
/// nor the high value. O(size) to add, O(1) to ask, no allocation.
class RatioWindow {
 public:
  static constexpr std::size_t kSize = 128;

  void add(double ratio) noexcept;
  /// Forgets the oldest ratio, if there is one.
  void forget_one() noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// 1 without ratios.
  [[nodiscard]] double mean() const noexcept { return mean_; }
  /// What a ratio rarely exceeds, 1 without ratios: the highest but for the outlier, or the 99.5th percentile of the
  /// log-normal distribution with their mean and spread if that is more.
  [[nodiscard]] double high() const noexcept { return high_; }

 private:
  void count_in(double ratio, double sign) noexcept;
  void summarize() noexcept;

  std::array<double, kSize> recent_{};  ///< a ring that begins at first_
  std::array<double, kSize> sorted_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  double sum_ = 0;
  double log_sum_ = 0;
  double log_squares_ = 0;
  double mean_ = 1;
  double high_ = 1;
};

}  // namespace ridgeline::stream
