// SPDX-License-Identifier: Apache-2.0
#include "stats/median_interval.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "unit/stats/samples.hpp"

namespace ridgeline::stats {
namespace {

TEST(MedianInterval, takes_the_order_statistics_of_the_sign_test) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1.0);
  base::Random random(3);  // shuffled, so that neighbours are not alike
  for (std::size_t i = samples.size() - 1; i > 0; --i) std::swap(samples[i], samples[random.below(i + 1)]);
  std::vector<double> scratch;
  const auto interval = median_interval(samples, scratch);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->value, 50.5);
  // 1-based ranks 40 and 61 when independent; a chance correlation can only widen them.
  EXPECT_LE(interval->low, 40);
  EXPECT_GE(interval->low, 34);
  EXPECT_EQ(interval->high, 101 - interval->low);
}

TEST(MedianInterval, agrees_with_a_full_sort_at_every_small_count) {
  std::vector<double> scratch;
  for (std::size_t count = 8; count < 60; ++count) {
    const auto samples = normal_samples(count, count, 10, 1);
    const auto interval = median_interval(samples, scratch);
    if (!interval) continue;
    auto sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const double median = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    EXPECT_DOUBLE_EQ(interval->value, median) << count;
    const auto low = std::find(sorted.begin(), sorted.end(), interval->low) - sorted.begin();
    const auto high = std::find(sorted.begin(), sorted.end(), interval->high) - sorted.begin();
    EXPECT_EQ(low + high, static_cast<std::ptrdiff_t>(count) - 1) << count;
    EXPECT_LE(interval->low, median);
    EXPECT_GE(interval->high, median);
  }
}

TEST(MedianInterval, does_not_exist_below_eight_samples) {
  std::vector<double> scratch;
  EXPECT_FALSE(median_interval(normal_samples(7, 1, 1, 0.1), scratch));
  EXPECT_TRUE(median_interval(std::vector<double>(8, 1.0), scratch));
}

TEST(MedianInterval, covers_the_median_in_95_of_100_series) {
  std::vector<double> scratch;
  for (const double correlation : {0.0, 0.5}) {
    int covered = 0;
    constexpr int kSeries = 1000;
    for (int series = 0; series < kSeries; ++series) {
      const auto interval =
          median_interval(correlated_samples(101, static_cast<std::uint64_t>(series) + 17, correlation, 100), scratch);
      covered += interval && interval->low <= 100 && 100 <= interval->high ? 1 : 0;
    }
    // 95 % of 1000 has a standard error of 7.
    EXPECT_GE(covered, correlation > 0 ? 925 : 935) << correlation;
    EXPECT_LE(covered, 990) << correlation;
  }
}

}  // namespace
}  // namespace ridgeline::stats
