// SPDX-License-Identifier: Apache-2.0
#include "execute/deadline.hpp"

namespace ridgeline::execute {
namespace {

TEST(Deadline, leaves_room_for_the_budgets_of_the_plan) {
  schema::MeasurementPlan plan;
  plan.warmup_max_s = 30;
  plan.max_time_s = 600;
  EXPECT_GT(derived_deadline_s(plan), 2 * plan.max_time_s + plan.warmup_max_s);
  EXPECT_LT(derived_deadline_s(plan), 2 * plan.max_time_s + 2 * plan.warmup_max_s + 300);
}

TEST(Deadline, fixed_runs_have_an_hour) {
  schema::MeasurementPlan plan;
  const double without = derived_deadline_s(plan);
  plan.runs = 100;
  EXPECT_GE(derived_deadline_s(plan), 3600);
  EXPECT_GT(derived_deadline_s(plan), without);
}

TEST(Deadline, a_pair_prepares_twice) {
  schema::PairedPlan plan;
  plan.max_time_s = 60;
  EXPECT_GT(derived_deadline_s(plan), 2 * 120 + 60);
}

}  // namespace
}  // namespace ridgeline::execute
