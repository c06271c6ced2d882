// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep_comparison.hpp"

#include <gtest/gtest.h>

#include "analysis/comparison_text.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Verdict;

const schema::SweepObjective kReward{"reward", true};
const schema::SweepObjective kLoss{"loss", false};

TEST(SweepComparison, judges_differences_by_their_interval_and_the_effect) {
  const std::vector<double> low{-3.0, -3.1, -2.9};
  const std::vector<double> high{-1.0, -1.1, -0.9};
  const auto reward = compare_values(kReward, low, high, 0.02);
  EXPECT_EQ(reward.verdict, Verdict::faster);
  EXPECT_NEAR(reward.difference.value.value, 2, 1e-9);
  EXPECT_TRUE(reward.difference.has_interval);
  EXPECT_EQ(compare_values(kLoss, low, high, 0.02).verdict, Verdict::slower);
  EXPECT_EQ(compare_values(kReward, high, low, 0.02).verdict, Verdict::slower);
  EXPECT_EQ(compare_values(kReward, low, high, 5).verdict, Verdict::no_difference) << "apart, but by less";
  EXPECT_EQ(compare_values(kReward, low, {-3.05, -2.95, -3.02}, 0.02).verdict, Verdict::inconclusive);
  EXPECT_EQ(compare_values(kReward, low, {-3.05, -2.95, -3.02}, 1).verdict, Verdict::no_difference);
  EXPECT_EQ(compare_values(kReward, {0, 0}, {0, 0}, 0).verdict, Verdict::no_difference);
  const auto once = compare_values(kReward, {-3}, high, 0.02);
  EXPECT_EQ(once.verdict, Verdict::inconclusive);
  EXPECT_FALSE(once.difference.has_interval);
}

TEST(SweepComparison, is_told_with_its_sign) {
  EXPECT_EQ(difference_text({"loss", false, true, {-0.12, -0.2, -0.04}}), "loss -0.12 (95 % interval -0.2 to -0.04)");
  EXPECT_EQ(difference_text({"reward", true, false, {2, 2, 2}}), "reward +2 (measured once, no interval)");
}

}  // namespace
}  // namespace ridgeline::analysis
