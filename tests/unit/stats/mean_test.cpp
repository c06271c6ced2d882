// SPDX-License-Identifier: Apache-2.0
#include "stats/mean.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "unit/stats/samples.hpp"

namespace ridgeline::stats {
namespace {

TEST(Mean, and_variance_of_few_samples) {
  EXPECT_EQ(mean(std::vector<double>{}), 0);
  EXPECT_EQ(mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_EQ(variance(std::vector<double>{1, 2, 6}), 7);
  EXPECT_EQ(variance(std::vector<double>{5}), 0);
}

TEST(MeanHalfWidth, is_that_of_students_t) {
  EXPECT_NEAR(student_half_width(9), 2.262157, 1e-6);
  EXPECT_NEAR(student_half_width(9, 0.99), 3.249836, 1e-6);
  EXPECT_NEAR(mean_half_width(std::vector<double>{1, 2, 6}), 4.302653 * std::sqrt(7.0 / 3), 1e-5);
  EXPECT_TRUE(std::isinf(mean_half_width(std::vector<double>{1, 2}, 2)));
}

TEST(BatchMean, covers_the_mean_of_correlated_series) {
  int covered = 0;
  for (int series = 0; series < 500; ++series) {
    const auto interval = batch_mean(correlated_samples(400, static_cast<std::uint64_t>(series), 0.5, 100), 10);
    ASSERT_TRUE(interval);
    covered += interval->low <= 100 && 100 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, 455);
  EXPECT_FALSE(batch_mean(std::vector<double>{1}, 10));
}

}  // namespace
}  // namespace ridgeline::stats
