// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace ridgeline::stream {

/// The last ratios of a measured time to an expected one. One outlier among them moves neither the mean nor the high
/// value. O(size) to add, O(1) to ask, no allocation.
class RatioWindow {
 public:
  static constexpr std::size_t kSize = 128;

  void add(double ratio) noexcept;
  /// Forgets the oldest ratio, if there is one.
  void forget_one() noexcept;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// 1 without ratios.
  [[nodiscard]] double mean() const noexcept { return mean_; }
  /// The second highest ratio, of a full window the 98.4th percentile; of fewer than 20 the highest; 1 without ratios.
  [[nodiscard]] double high() const noexcept { return high_; }

 private:
  void summarize() noexcept;

  std::array<double, kSize> recent_{};  ///< a ring that begins at first_
  std::array<double, kSize> sorted_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  double sum_ = 0;
  double mean_ = 1;
  double high_ = 1;
};

}  // namespace ridgeline::stream
