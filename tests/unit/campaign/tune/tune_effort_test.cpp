// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_effort.hpp"

#include <gtest/gtest.h>

#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

TEST(TuneEffort, says_nothing_more_than_the_plans_do_where_nothing_is_asked) {
  schema::TuneRequest request;
  ASSERT_TRUE(plan_effort({}, request));
  EXPECT_EQ(request.plan, schema::MeasurementPlan{});
  EXPECT_EQ(request.paired.warmup, request.plan);
  EXPECT_EQ(request.paired.min_samples, 0);
}

TEST(TuneEffort, quick_measures_and_compares_less) {
  schema::TuneRequest request;
  ASSERT_TRUE(plan_effort({.quick = true}, request));
  EXPECT_LT(request.plan.max_time_s, schema::MeasurementPlan{}.max_time_s);
  EXPECT_LT(request.paired.max_time_s, schema::PairedPlan{}.max_time_s);
  EXPECT_LT(request.finalists, schema::TuneRequest{}.finalists);
}

TEST(TuneEffort, a_tail_needs_its_samples) {
  schema::TuneRequest request;
  request.objective = schema::Objective::p99;
  ASSERT_TRUE(plan_effort({}, request));
  EXPECT_EQ(request.plan.min_runs, stats::samples_needed(0.99));
  EXPECT_EQ(request.paired.min_samples, stats::samples_needed(0.99));
  EXPECT_EQ(request.paired.min_samples_time_s, 3 * request.plan.max_time_s);

  request.objective = schema::Objective::p99;
  const auto refused = plan_effort({.runs = 20}, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
}

TEST(TuneEffort, so_does_a_limit_on_a_tail) {
  schema::TuneRequest request;
  request.constraints = {schema::parse_constraint("latency_p95_ms<=20").value()};
  ASSERT_TRUE(plan_effort({}, request));
  EXPECT_GT(request.plan.min_runs, schema::MeasurementPlan{}.min_runs);
  EXPECT_GT(request.plan.max_time_s, schema::MeasurementPlan{}.max_time_s);
  EXPECT_EQ(request.paired.min_samples, 0);
}

TEST(TuneEffort, what_the_user_says_goes_first) {
  schema::TuneRequest request;
  ASSERT_TRUE(plan_effort({.quick = true, .warmup_runs = 7, .runs = 40, .trial_time_s = 0.1}, request));
  EXPECT_EQ(request.plan.warmup_runs, 7);
  EXPECT_EQ(request.plan.runs, 40);
  EXPECT_EQ(request.plan.max_time_s, 0.1);
  EXPECT_EQ(request.plan.min_time_s, 0.1);
  EXPECT_EQ(request.paired.warmup, request.plan);
}

}  // namespace
}  // namespace ridgeline::campaign
