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
  [[nodiscard]] double mean() const noexcept;
  /// What a ratio rarely exceeds, 1 without ratios: the highest but for the outlier, or the 99.5th percentile of the
  /// log-normal distribution with their mean and spread if that is more.
  [[nodiscard]] double high() const noexcept;

 private:
  struct Ratio {
    double value = 1;
    double log = 0;
  };

  void count_in(const Ratio& ratio, double sign) noexcept;
  /// How many are not left out as outliers.
  [[nodiscard]] std::size_t kept() const noexcept;

  std::array<Ratio, kSize> recent_{};  ///< a ring that begins at first_
  std::array<double, kSize> sorted_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  double sum_ = 0;
  double log_sum_ = 0;
  double log_squares_ = 0;
};

}  // namespace ridgeline::stream
