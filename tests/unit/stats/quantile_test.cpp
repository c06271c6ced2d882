// SPDX-License-Identifier: Apache-2.0
#include "stats/quantile.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "unit/stats/samples.hpp"

namespace ridgeline::stats {
namespace {

TEST(Quantile, interpolates_linearly_like_type_7) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.99), 7);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(Quantile, needs_ten_samples_beyond_it) {
  EXPECT_EQ(samples_needed(0.99), 1000);
  EXPECT_EQ(samples_needed(0.95), 200);
  EXPECT_EQ(samples_needed(0.9), 100);
  EXPECT_EQ(samples_needed(0.5), 20);
  EXPECT_DOUBLE_EQ(supported_tail(1000), 0.99);
  EXPECT_DOUBLE_EQ(supported_tail(999), 0.95);
  EXPECT_DOUBLE_EQ(supported_tail(150), 0.9);
  EXPECT_DOUBLE_EQ(supported_tail(3), 0.5);
}

TEST(QuantileInterval, uses_the_textbook_ranks) {
  std::vector<double> sorted(100);
  std::iota(sorted.begin(), sorted.end(), 1.0);
  const auto median = quantile_interval(sorted, 0.5, 0.95);
  EXPECT_DOUBLE_EQ(median.low, 40);  // P(Bin(100, 0.5) <= 39) = 0.0176, <= 40 would be 0.0284
  EXPECT_DOUBLE_EQ(median.high, 61);
  sorted.resize(5);
  const auto few = quantile_interval(sorted, 0.5, 0.95);
  EXPECT_DOUBLE_EQ(few.low, 1);
  EXPECT_DOUBLE_EQ(few.high, 5);
}

TEST(QuantileInterval, covers_the_true_median_and_p99_at_least_95_times_in_100) {
  for (const double q : {0.5, 0.99}) {
    const double truth = q == 0.5 ? 1000 : 1000 + 50 * 2.3263478740408408;
    int covered = 0;
    constexpr int kRounds = 400;
    for (int round = 0; round < kRounds; ++round) {
      auto sorted = normal_samples(1200, 1000 + static_cast<std::uint64_t>(round));
      std::sort(sorted.begin(), sorted.end());
      const auto interval = quantile_interval(sorted, q, 0.95);
      covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, static_cast<int>(kRounds * 0.93)) << q;  // 2 standard errors below 95 %
    EXPECT_LE(covered, static_cast<int>(kRounds * 0.99)) << q;
  }
}

TEST(EffectiveShare, follows_the_correlation_and_ignores_a_spike) {
  auto independent = normal_samples(4000, 3);
  EXPECT_GT(effective_share(independent, 1000), 0.8);
  independent[100] = 1e9;
  EXPECT_GT(effective_share(independent, 1000), 0.8);
  EXPECT_LT(effective_share(correlated_samples(4000, 3, 0.9, 100), 100), 0.2);
  EXPECT_DOUBLE_EQ(effective_share(std::vector<double>(50, 7.0), 7), 1);
}

}  // namespace
}  // namespace ridgeline::stats
