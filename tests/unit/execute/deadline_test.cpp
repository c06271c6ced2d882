// SPDX-License-Identifier: Apache-2.0
#include "execute/deadline.hpp"

#include "schema/execution_provider.hpp"

namespace ridgeline::execute {
namespace {

TEST(Deadline, leaves_room_for_the_budgets_of_the_plan) {
  schema::MeasurementPlan plan;
  plan.warmup_max_s = 30;
  plan.max_time_s = 600;
  EXPECT_GT(derived_deadline_s(plan, "cuda"), 2 * plan.max_time_s + plan.warmup_max_s);
  EXPECT_LT(derived_deadline_s(plan, "cuda"), 2 * plan.max_time_s + 2 * plan.warmup_max_s + 300);
}

TEST(Deadline, fixed_runs_have_an_hour) {
  schema::MeasurementPlan plan;
  const double without = derived_deadline_s(plan, "cuda");
  plan.runs = 100;
  EXPECT_GE(derived_deadline_s(plan, "cuda"), 3600);
  EXPECT_GT(derived_deadline_s(plan, "cuda"), without);
}

TEST(Deadline, a_pair_prepares_both_arms_in_two_rounds) {
  schema::PairedPlan plan;
  plan.max_time_s = 60;
  plan.rounds = plan.max_rounds = 1;
  EXPECT_GT(derived_deadline_s(plan, "cuda"), 2 * 120 + 60);
  plan.rounds = plan.max_rounds = 2;
  const double two = derived_deadline_s(plan, "cuda");
  EXPECT_GT(two, 4 * 120 + 60);
  plan.rounds = 6;
  EXPECT_EQ(derived_deadline_s(plan, "cuda"), two) << "a hang is not waited for longer because rounds are many";
}

TEST(Deadline, a_pair_has_the_time_that_its_samples_take) {
  schema::PairedPlan plan;
  plan.max_time_s = 30;
  const double without = derived_deadline_s(plan, "cuda");
  plan.min_samples_time_s = 180;
  EXPECT_DOUBLE_EQ(derived_deadline_s(plan, "cuda"), without + 2 * 150);
}

TEST(Deadline, tensorrt_has_the_time_to_build_its_engines) {
  EXPECT_GE(derived_deadline_s(schema::MeasurementPlan{}, "tensorrt"),
            derived_deadline_s(schema::MeasurementPlan{}, "cuda") + 1200);
  EXPECT_GE(derived_deadline_s(schema::PairedPlan{}, "tensorrt"),
            derived_deadline_s(schema::PairedPlan{}, "cuda") + 1200);
}

TEST(Deadline, a_compiler_has_the_time_to_try_its_kernels) {
  for (const auto& row : schema::torch_providers())
    EXPECT_GE(derived_deadline_s(schema::MeasurementPlan{}, row.id), 900) << row.id;
}

}  // namespace
}  // namespace ridgeline::execute
