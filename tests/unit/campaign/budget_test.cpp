// SPDX-License-Identifier: Apache-2.0
#include "campaign/budget.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"

namespace ridgeline::campaign {
namespace {

TEST(Budget, answers_for_a_share_of_its_limit) {
  const fakes::FakeClock clock;
  Budget budget(clock, std::chrono::seconds(10));
  struct Row {
    int spent_s;
    double share;
    double left_s;
    bool is_used_up;
  };
  for (const auto& row :
       {Row{0, 1, 10, false}, Row{4, 1, 6, false}, Row{4, 0.5, 1, false}, Row{5, 0.5, 0, true}, Row{12, 1, -2, true}}) {
    clock.advance(std::chrono::seconds(row.spent_s) - base::from_seconds(budget.elapsed_s()));
    EXPECT_NEAR(budget.left_s(row.share), row.left_s, 1e-9) << row.spent_s;
    EXPECT_EQ(budget.is_used_up(row.share), row.is_used_up) << row.spent_s;
  }
}

TEST(Budget, never_ends_without_a_limit_until_one_is_set) {
  const fakes::FakeClock clock;
  Budget budget(clock, std::nullopt);
  clock.advance(std::chrono::seconds(1000));
  EXPECT_FALSE(budget.is_limited());
  EXPECT_FALSE(budget.is_used_up(0.1));
  budget.set_limit(std::chrono::seconds(10));
  EXPECT_TRUE(budget.is_limited());
  EXPECT_TRUE(budget.is_used_up());
}

TEST(Budget, what_is_excluded_has_passed_but_does_not_count) {
  const fakes::FakeClock clock;
  Budget budget(clock, std::chrono::seconds(10));
  clock.advance(std::chrono::seconds(7));
  budget.exclude_from_budget(5);
  EXPECT_DOUBLE_EQ(budget.elapsed_s(), 7);
  EXPECT_DOUBLE_EQ(budget.spent_s(), 2);
  EXPECT_DOUBLE_EQ(budget.left_s(), 8);
}

}  // namespace
}  // namespace ridgeline::campaign
