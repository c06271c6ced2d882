// SPDX-License-Identifier: Apache-2.0
#include "analysis/loss_gate.hpp"

#include <gtest/gtest.h>

namespace ridgeline::analysis {
namespace {

using Verdict = LossComparison::Verdict;

LossCurve flat(double loss, std::size_t count = 10) { return {std::vector<double>(count, loss), {}}; }

TEST(LossGateTest, rounding_is_the_least_that_is_allowed) {
  EXPECT_EQ(compare_losses({flat(2), flat(2)}, {flat(2.002)}, kFp32Rounding).verdict, Verdict::same);
  EXPECT_EQ(compare_losses({flat(2), flat(2)}, {flat(2.01)}, kFp32Rounding).verdict, Verdict::differs);
  EXPECT_EQ(compare_losses({flat(2), flat(2)}, {flat(2.01)}, kShortRounding).verdict, Verdict::same);
}

TEST(LossGateTest, trials_of_the_same_settings_say_what_is_allowed) {
  const auto found = compare_losses({flat(2), flat(2.2)}, {flat(2.15), flat(2.15)}, kFp32Rounding);
  EXPECT_EQ(found.verdict, Verdict::same);
  EXPECT_NEAR(found.allowed, 0.1, 1e-9);
  EXPECT_NEAR(found.difference, 0.075, 1e-9);
  EXPECT_EQ(found.steps, 10);
}

TEST(LossGateTest, the_nth_trials_are_compared) {
  EXPECT_EQ(compare_losses({flat(2), flat(3)}, {flat(2), flat(3)}, kFp32Rounding).difference, 0);
}

TEST(LossGateTest, a_trial_without_a_counterpart_is_not_compared) {
  // The base is slow and has one trial; the second with the lever drew other random numbers.
  EXPECT_EQ(compare_losses({flat(2)}, {flat(2), flat(3)}, kFp32Rounding).verdict, Verdict::same);
  EXPECT_EQ(compare_losses({flat(2)}, {flat(3), flat(2)}, kFp32Rounding).verdict, Verdict::differs);
}

TEST(LossGateTest, a_late_difference_is_seen) {
  auto late = flat(2, 20);
  for (std::size_t i = 10; i < 20; ++i) late.losses[i] = 2.5;
  EXPECT_EQ(compare_losses({flat(2, 20)}, {late}, kFp32Rounding).verdict, Verdict::differs);
}

TEST(LossGateTest, a_loss_that_is_no_number) {
  const LossCurve lost{{2, 2}, 3};
  EXPECT_EQ(compare_losses({flat(2)}, {lost}, kFp32Rounding).verdict, Verdict::lost);
  EXPECT_EQ(compare_losses({lost}, {flat(2)}, kFp32Rounding).verdict, Verdict::lost_without);
}

TEST(LossGateTest, too_few_losses_show_nothing) {
  EXPECT_EQ(compare_losses({flat(2, 4)}, {flat(2)}, kFp32Rounding).verdict, Verdict::unknown);
  EXPECT_EQ(compare_losses({}, {flat(2)}, kFp32Rounding).verdict, Verdict::unknown);
}

TEST(LossGateTest, passes_of_one_step_are_one_loss) {
  schema::TrainingMeasurement measured;
  EXPECT_FALSE(loss_curve(measured));
  measured.resources.losses = {1, 3, 2, 4, 9};
  const auto curve = loss_curve(measured, 2);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->losses, (std::vector<double>{2, 3}));
}

}  // namespace
}  // namespace ridgeline::analysis
