// SPDX-License-Identifier: Apache-2.0
#include "stats/two_samples.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ridgeline::stats {
namespace {

TEST(WelchRatio, equals_an_independent_calculation) {
  // By the definition, with the density of Student's t integrated numerically in another language.
  const std::vector<double> a{10.0, 10.4, 9.8, 10.1};
  const std::vector<double> b{11.0, 11.9, 10.7, 11.4, 11.1};
  const auto found = welch_ratio(a, b, 0.95);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->ratio, 1.1131791, 1e-7);
  EXPECT_NEAR(found->p_value, 0.00197535, 1e-7);
  EXPECT_NEAR(found->low, 1.056643, 1e-5);
  EXPECT_NEAR(found->high, 1.172740, 1e-5);
}

TEST(WelchRatio, needs_values) {
  EXPECT_FALSE(welch_ratio(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}, 0.95));
  EXPECT_TRUE(welch_ratio(std::vector<double>{1, 2}, std::vector<double>{1, 2, 3}, 0.95, 2));
  EXPECT_FALSE(welch_ratio(std::vector<double>{1, 2, -3}, std::vector<double>{1, 2, 3}, 0.95)) << "no logarithm";
  const auto same = welch_ratio(std::vector<double>{5, 5, 5}, std::vector<double>{5, 5, 5}, 0.95);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->p_value, 1);
  const auto other = welch_ratio(std::vector<double>{5, 5, 5}, std::vector<double>{10, 10, 10}, 0.95);
  ASSERT_TRUE(other);
  EXPECT_NEAR(other->low, 2, 1e-12);
  EXPECT_EQ(other->p_value, 0);
}

TEST(WelchDifference, is_that_of_the_means_with_an_interval) {
  // Welch's t of these by an independent calculation: difference 1.145, standard error 0.238799, freedom 6.3778.
  const auto found =
      welch_difference(std::vector<double>{10.0, 10.4, 9.8, 10.1}, std::vector<double>{11.0, 11.9, 10.7, 11.4, 11.1});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, 1.145, 1e-9);
  EXPECT_NEAR((found->high - found->low) / 2, 0.5760316, 1e-6);
  const auto below = welch_difference(std::vector<double>{-3, -3}, std::vector<double>{0, 0});
  ASSERT_TRUE(below);
  EXPECT_EQ(below->low, 3) << "values that do not differ leave nothing open";
  EXPECT_EQ(below->high, 3);
  EXPECT_FALSE(welch_difference(std::vector<double>{1}, std::vector<double>{1, 2}));
}

TEST(Holm, adjusts_in_the_order_of_the_input) {
  const auto found = holm({0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(found[3], 0.02, 1e-12);
  EXPECT_NEAR(found[0], 0.03, 1e-12);
  EXPECT_NEAR(found[2], 0.06, 1e-12);
  EXPECT_NEAR(found[1], 0.06, 1e-12) << "never below one that is smaller";
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm({0.9, 0.8}), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace ridgeline::stats
