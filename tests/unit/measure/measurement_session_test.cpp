// SPDX-License-Identifier: Apache-2.0
#include "measure/measurement_session.hpp"
#include "fakes/words.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/fake_workload.hpp"

namespace ridgeline::measure {
namespace {

using fakes::FakeWorkload;
using fakes::kMillisecond;
using schema::StopReason;

FakeWorkload::Latency constant(double ns) {
  return [ns](int, std::int64_t) { return ns; };
}

/// Normal noise of `ratio` around `ns`, its own stream.
FakeWorkload::Latency noisy(double ns, double ratio, std::uint64_t seed = 5) {
  return [ns, ratio, random = base::Random(seed)](int, std::int64_t) mutable {
    return ns * (1 + ratio * random.normal());
  };
}

schema::MeasurementPlan fixed_plan(std::int64_t runs, std::int64_t warmup = 0) {
  schema::MeasurementPlan plan;
  plan.runs = runs;
  plan.warmup_runs = warmup;
  plan.warmup_max_s = 0;
  return plan;
}

TEST(Measure, takes_exactly_the_runs_it_was_told) {
  FakeWorkload workload(constant(kMillisecond));
  workload.items = 8;
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(25, 4), control);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->latency_ns, std::vector<double>(25, kMillisecond));
  EXPECT_EQ(workload.steps[0].load(), 1 + 4 + 25);
  EXPECT_EQ(result->warmup_runs, 4);
  EXPECT_EQ(result->warmup_ns, 4 * kMillisecond);
  EXPECT_EQ(result->first_run_ns, kMillisecond);
  EXPECT_EQ(result->stop_reason, StopReason::fixed_runs);
  EXPECT_EQ(result->wall_ns, 25 * kMillisecond);
  EXPECT_DOUBLE_EQ(result->throughput_per_s(), 8000);
  EXPECT_EQ(result->session_create_ns, 7000);
  EXPECT_EQ(result->effective_settings.at("threads"), "4");
  EXPECT_EQ(control.steps.load(), 30);
  EXPECT_EQ(control.phase.load(), schema::TrialPhase::measure);
  EXPECT_TRUE(result->flags.empty());
}

TEST(Measure, takes_a_fixed_number_larger_than_one_round) {
  FakeWorkload workload(constant(1000));
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(150000), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->latency_ns.size(), 150000U);
}

TEST(Measure, keeps_the_slow_first_run_apart) {
  FakeWorkload workload([](int, std::int64_t index) { return index == 0 ? 50 * kMillisecond : kMillisecond; });
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(10), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->first_run_ns, 50 * kMillisecond);
  EXPECT_EQ(*std::max_element(result->latency_ns.begin(), result->latency_ns.end()), kMillisecond);
}

TEST(Measure, warms_up_until_a_drift_has_ended) {
  // Falls from 3 ms to 1 ms with a time constant of 60 inferences.
  FakeWorkload workload([random = base::Random(2)](int, std::int64_t index) mutable {
    return kMillisecond * (1 + 2 * std::exp(-static_cast<double>(index) / 60)) * (1 + 0.01 * random.normal());
  });
  MeasureControl control;
  const auto result = measure(workload, {}, control);
  ASSERT_TRUE(result);
  EXPECT_GE(result->warmup_runs, 200);
  EXPECT_FALSE(schema::has_flag(result->flags, "not_steady"));
  EXPECT_NEAR(*std::max_element(result->latency_ns.begin(), result->latency_ns.end()), kMillisecond,
              0.06 * kMillisecond);
}

TEST(Measure, does_not_prolong_the_warm_up_of_a_steady_workload) {
  FakeWorkload workload(noisy(kMillisecond, 0.02));
  MeasureControl control;
  const auto result = measure(workload, {}, control);
  ASSERT_TRUE(result);
  EXPECT_GE(result->warmup_ns, 49 * kMillisecond);
  EXPECT_LE(result->warmup_ns, 400 * kMillisecond);
}

TEST(Measure, says_so_when_times_never_settle) {
  FakeWorkload workload(
      [](int, std::int64_t index) { return kMillisecond * std::exp(-static_cast<double>(index) / 1000); });
  MeasureControl control;
  schema::MeasurementPlan plan;
  plan.warmup_max_s = 0.5;
  const auto result = measure(workload, plan, control);
  ASSERT_TRUE(result);
  EXPECT_TRUE(schema::has_flag(result->flags, "not_steady"));
  EXPECT_NEAR(result->warmup_ns, 500 * kMillisecond, kMillisecond);
}

TEST(Measure, remarks_on_a_drift_too_slow_for_the_warm_up_to_see) {
  FakeWorkload workload([](int, std::int64_t index) { return kMillisecond * (1 + 1e-4 * static_cast<double>(index)); });
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(2000, 20), control);
  ASSERT_TRUE(result);
  EXPECT_TRUE(schema::has_flag(result->flags, "drift"));
}

TEST(Measure, does_the_warm_up_floor_however_slow) {
  FakeWorkload workload(constant(3e9));
  MeasureControl control;
  schema::MeasurementPlan plan;
  plan.warmup_runs = 4;
  const auto result = measure(workload, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->warmup_runs, 4);
  EXPECT_EQ(result->latency_ns.size(), 2U);  // the budget of 5 s wins over the least count
  EXPECT_EQ(result->stop_reason, StopReason::time_budget);
  EXPECT_TRUE(schema::has_flag(result->flags, "not_steady"));
  EXPECT_TRUE(schema::has_flag(result->flags, "few_samples"));
}

TEST(Measure, stops_once_the_interval_is_tight) {
  FakeWorkload workload(noisy(kMillisecond, 0.05));
  MeasureControl control;
  const auto result = measure(workload, {}, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop_reason, StopReason::interval_reached);
  EXPECT_GE(result->latency_ns.size(), 199U);   // min_time_s 0.2
  EXPECT_LE(result->latency_ns.size(), 1500U);  // 5 % noise needs about 150
  EXPECT_FALSE(schema::has_flag(result->flags, "wide_interval"));
}

TEST(Measure, spends_its_budget_on_a_noisy_workload_and_says_how_well_it_knows) {
  FakeWorkload workload(noisy(kMillisecond, 0.3));
  MeasureControl control;
  schema::MeasurementPlan plan;
  plan.max_time_s = 0.5;
  plan.target_interval_ratio = 0.001;
  const auto result = measure(workload, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop_reason, StopReason::time_budget);
  EXPECT_NEAR(result->wall_ns, 500 * kMillisecond, 3 * kMillisecond);
  EXPECT_TRUE(schema::has_flag(result->flags, "wide_interval"));
}

TEST(Measure, stops_at_the_run_limit) {
  FakeWorkload workload(noisy(1000, 0.3));
  MeasureControl control;
  schema::MeasurementPlan plan;
  plan.max_runs = 700;
  plan.target_interval_ratio = 0.0001;
  const auto result = measure(workload, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop_reason, StopReason::run_limit);
  EXPECT_EQ(result->latency_ns.size(), 700U);
}

TEST(Measure, stops_a_clear_loser_early) {
  FakeWorkload workload(noisy(10 * kMillisecond, 0.02));
  MeasureControl control;
  control.stop_above_ns = 5 * kMillisecond;
  const auto result = measure(workload, {}, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop_reason, StopReason::stopped_early);
  EXPECT_EQ(result->latency_ns.size(), 8U);
}

TEST(Measure, reports_a_cancellation_as_an_unusable_measurement) {
  for (const std::int64_t at : {3, 40}) {  // in warm-up, in the timed window
    FakeWorkload workload(constant(kMillisecond));
    MeasureControl control;
    workload.on_step = [&](int, std::int64_t index) {
      if (index == at) control.cancel = true;
    };
    const auto result = measure(workload, fixed_plan(1000, 10), control);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->stop_reason, StopReason::cancelled);
    EXPECT_EQ(workload.steps[0].load(), at + 1);
    const auto flag = std::find_if(result->flags.begin(), result->flags.end(),
                                   [](const auto& candidate) { return candidate.code == "cancelled"; });
    ASSERT_NE(flag, result->flags.end());
    EXPECT_EQ(flag->level, schema::FlagLevel::error);
  }
}

TEST(Measure, returns_the_workloads_error_from_every_phase) {
  for (const std::int64_t at : {0, 3, 20}) {
    FakeWorkload workload(constant(kMillisecond));
    workload.fail_at = at;
    MeasureControl control;
    const auto result = measure(workload, fixed_plan(50, 10), control);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, base::ErrorCode::out_of_memory);
    EXPECT_EQ(control.phase.load(), at == 20 ? schema::TrialPhase::measure : schema::TrialPhase::warmup);
  }
}

TEST(Measure, measures_the_throughput_of_several_callers) {
  FakeWorkload workload(constant(2 * kMillisecond), 4);
  workload.items = 3;
  MeasureControl control;
  control.throughput = true;
  const auto result = measure(workload, fixed_plan(20), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->concurrency, 4);
  EXPECT_EQ(result->latency_ns.size(), 80U);
  EXPECT_NEAR(result->throughput_per_s(), 4 * 3 * 500, 1e-6);
}

TEST(Measure, runs_real_threads_on_the_system_clock) {
  FakeWorkload workload(constant(kMillisecond), 3);
  workload.real_time = true;
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(20), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->latency_ns.size(), 60U);
  EXPECT_GE(*std::min_element(result->latency_ns.begin(), result->latency_ns.end()), kMillisecond);
  // Three callers that sleep for at least a millisecond: below 3000 a second, and far above what one caller reaches.
  EXPECT_LT(result->throughput_per_s(), 3000);
  EXPECT_GT(result->throughput_per_s(), 500);
}

TEST(Measure, passes_on_the_workloads_flags) {
  FakeWorkload workload(constant(kMillisecond));
  workload.own_flags = {{schema::FlagLevel::notice, "ineffective_setting", fakes::legacy("x was ignored")}};
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(10), control);
  ASSERT_TRUE(result);
  EXPECT_TRUE(schema::has_flag(result->flags, "ineffective_setting"));
}

TEST(Measure, refuses_a_plan_out_of_range) {
  FakeWorkload workload(constant(kMillisecond));
  MeasureControl control;
  const auto result = measure(workload, fixed_plan(0), control);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(workload.steps[0].load(), 0);
}

}  // namespace
}  // namespace ridgeline::measure
