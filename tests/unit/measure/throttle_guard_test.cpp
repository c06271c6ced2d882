// SPDX-License-Identifier: Apache-2.0
#include "measure/throttle_guard.hpp"
#include "fakes/words.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/fake_round_watch.hpp"
#include "fakes/fake_workload.hpp"
#include "measure/measurement_session.hpp"

namespace ridgeline::measure {
namespace {

using fakes::FakeRoundWatch;
using fakes::FakeWorkload;
using fakes::kMillisecond;
using gpu::RoundReading;

const schema::QualityFlag* find_flag(const std::vector<schema::QualityFlag>& flags, std::string_view code) {
  const auto at = std::find_if(flags.begin(), flags.end(), [&](const auto& flag) { return flag.code == code; });
  return at != flags.end() ? &*at : nullptr;
}

TEST(ThrottleGuard, discards_parts_whose_throttle_time_grew) {
  ThrottleGuard guard(10);
  guard.add(0.2, {0.009, 1900});
  guard.add(0.2, {0.011, 1900});
  guard.add(0.2, {std::nullopt, std::nullopt});
  EXPECT_TRUE(guard.kept(0));
  EXPECT_FALSE(guard.kept(1));
  EXPECT_TRUE(guard.kept(2));
  EXPECT_DOUBLE_EQ(guard.discarded_s(), 0.2);
  EXPECT_EQ(guard.discarded(), 1U);
  EXPECT_EQ(guard.flag()->code, "throttled_rounds");
  EXPECT_EQ(guard.flag()->level, schema::FlagLevel::info);
}

TEST(ThrottleGuard, goes_by_most_samples_where_no_counter_is_readable) {
  ThrottleGuard guard(10);
  guard.add(0.2, {std::nullopt, 1900, std::nullopt, 0.5});
  guard.add(0.2, {std::nullopt, 1900, std::nullopt, 0.75});
  guard.add(0.2, {0, 1900, std::nullopt, 1});
  EXPECT_TRUE(guard.kept(0));
  EXPECT_FALSE(guard.kept(1));
  EXPECT_TRUE(guard.kept(2)) << "the counters know better";
  EXPECT_EQ(guard.flag()->code, "throttled_rounds");
}

TEST(ThrottleGuard, flags_a_capped_card_without_counters) {
  ThrottleGuard guard(100);
  for (std::size_t part = 0; part < ThrottleGuard::kPatience; ++part)
    guard.add(0.2, {std::nullopt, 1200, std::nullopt, 0.75});
  EXPECT_TRUE(guard.gave_up());
  ASSERT_TRUE(guard.flag());
  EXPECT_EQ(guard.flag()->code, "throttled");
  EXPECT_NE(fakes::text_of(guard.flag()->message).find("75 %"), std::string::npos)
      << fakes::text_of(guard.flag()->message);
}

TEST(ThrottleGuard, discards_an_early_slow_part_once_it_knows_the_clock) {
  ThrottleGuard guard(10);
  guard.add(0.1, {0, 1000});
  EXPECT_TRUE(guard.kept(0));
  guard.add(0.1, {0, 1980});
  EXPECT_FALSE(guard.kept(0));
  guard.add(0.1, {0, 1500});
  EXPECT_TRUE(guard.kept(2)) << "above 75 %";
  guard.add(0.1, {0, 1480});
  EXPECT_FALSE(guard.kept(3));
}

TEST(ThrottleGuard, takes_no_reference_clock_from_a_throttled_part) {
  ThrottleGuard guard(10);
  guard.add(0.1, {0.1, 1980});
  guard.add(0.1, {0, 1200});
  EXPECT_FALSE(guard.kept(0));
  EXPECT_TRUE(guard.kept(1));
}

TEST(ThrottleGuard, discards_parts_in_which_somebody_else_came_to_the_gpu) {
  ThrottleGuard guard(10);
  guard.add(0.1, {0, 1980, 2});
  EXPECT_TRUE(guard.kept(0)) << "two that are always there cannot be avoided";
  guard.add(0.1, {0, 1980, 3});
  guard.add(0.1, {0, 1980, std::nullopt});
  EXPECT_FALSE(guard.kept(1));
  EXPECT_TRUE(guard.kept(2));
  ASSERT_TRUE(guard.flag());
  EXPECT_EQ(guard.flag()->code, "shared_rounds");
  guard.add(0.1, {0, 1980, 1});
  EXPECT_FALSE(guard.kept(0)) << "one of the two has left";
  guard.add(0.1, {0.1, 1980, 1});
  EXPECT_EQ(guard.flag()->code, "throttled_rounds");
  EXPECT_NE(fakes::text_of(guard.flag()->message).find("clocks or other processes"), std::string::npos)
      << fakes::text_of(guard.flag()->message);
}

TEST(ThrottleGuard, tells_of_processes_that_stayed_for_too_long) {
  ThrottleGuard guard(1);
  guard.add(0.1, {0, 1980, 0});
  for (int part = 0; part < 6; ++part) guard.add(0.1, {0, 1980, 1});
  EXPECT_TRUE(guard.gave_up());
  EXPECT_EQ(guard.discarded(), 0U);
  ASSERT_TRUE(guard.flag());
  EXPECT_EQ(guard.flag()->code, "gpu_shared");
  EXPECT_NE(fakes::text_of(guard.flag()->message).find("86 %"), std::string::npos)
      << fakes::text_of(guard.flag()->message);
}

TEST(ThrottleGuard, gives_up_when_more_than_half_of_the_budget_would_be_lost) {
  ThrottleGuard guard(1);
  guard.add(0.2, {0, 1900});
  guard.add(0.3, {0.28, 1900});
  guard.add(0.2, {0.1, 1900});
  EXPECT_FALSE(guard.gave_up());
  guard.add(0.1, {0.1, 1900});
  EXPECT_TRUE(guard.gave_up());
  for (std::size_t part = 0; part < guard.parts(); ++part) EXPECT_TRUE(guard.kept(part));
  EXPECT_EQ(guard.discarded_s(), 0);
  ASSERT_TRUE(guard.flag());
  EXPECT_EQ(guard.flag()->code, "throttled");
  EXPECT_NE(fakes::text_of(guard.flag()->message).find("60 %"), std::string::npos)
      << fakes::text_of(guard.flag()->message);
}

TEST(ThrottleGuard, gives_up_soon_on_a_card_that_always_throttles) {
  ThrottleGuard guard(100);
  for (std::size_t part = 0; part < ThrottleGuard::kPatience; ++part) {
    EXPECT_FALSE(guard.gave_up());
    guard.add(0.2, {0.2, 1200});
  }
  EXPECT_TRUE(guard.gave_up());
}

TEST(ThrottleGuard, stays_silent_on_a_calm_card) {
  ThrottleGuard guard(1);
  EXPECT_FALSE(guard.flag());
  for (int part = 0; part < 20; ++part) guard.add(0.2, {0, 1980});
  EXPECT_FALSE(guard.flag());
  EXPECT_EQ(guard.discarded(), 0U);
}

schema::MeasurementPlan timed_plan(double min_time_s, double max_time_s) {
  schema::MeasurementPlan plan;
  plan.warmup_runs = 0;
  plan.warmup_max_s = 0;
  plan.min_time_s = min_time_s;
  plan.max_time_s = max_time_s;
  plan.target_interval_ratio = -1;  // out of reach: the whole budget is used
  return plan;
}

TEST(MeasureOnGpu, takes_throttled_parts_again) {
  // Parts 2 and 3 of the window are throttled and slow.
  FakeRoundWatch watch([](int part) { return RoundReading{part == 2 || part == 3 ? 0.1 : 0.0, 1980.0}; });
  FakeWorkload workload([&](int, std::int64_t) { return watch.parts == 2 || watch.parts == 3 ? 2e6 : 1e6; });
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure(workload, timed_plan(0.5, 2), control);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(std::count(result->latency_ns.begin(), result->latency_ns.end(), 2e6), 0);
  EXPECT_NEAR(result->wall_ns, 2e9, 0.01e9) << "the lost time was taken again";
  EXPECT_NEAR(result->throughput_per_s(), 1000, 1);
  EXPECT_TRUE(find_flag(result->flags, "throttled_rounds"));
  EXPECT_FALSE(find_flag(result->flags, "throttled"));
  EXPECT_FALSE(find_flag(result->flags, "gpu_shared"));
  EXPECT_EQ(watch.begun, 1);
  ASSERT_EQ(watch.totals.size(), 1U);
  EXPECT_EQ(watch.totals[0].discarded_parts, 2);
  EXPECT_NEAR(watch.totals[0].kept_s, 2, 0.01);
  EXPECT_NEAR(watch.totals[0].items, 2000 + watch.totals[0].discarded_s * 500, 2);
}

TEST(MeasureOnGpu, puts_everything_back_in_order_when_it_gives_up) {
  FakeRoundWatch watch([](int part) { return RoundReading{part % 2 == 1 ? 0.2 : 0.0, 1980.0}; });
  FakeWorkload workload([&](int, std::int64_t index) { return 1e6 + static_cast<double>(index); });
  workload.items = 4;
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure(workload, timed_plan(0.5, 2), control);
  ASSERT_TRUE(result) << result.error().message;
  const auto* flag = find_flag(result->flags, "throttled");
  ASSERT_TRUE(flag);
  EXPECT_EQ(flag->level, schema::FlagLevel::notice);
  EXPECT_TRUE(std::is_sorted(result->latency_ns.begin(), result->latency_ns.end()));
  EXPECT_EQ(static_cast<std::int64_t>(result->latency_ns.size()), workload.steps[0].load() - 1);
  double sum = 0;
  for (const double latency : result->latency_ns) sum += latency;
  EXPECT_NEAR(result->wall_ns, sum, 1);
  EXPECT_EQ(watch.totals[0].discarded_parts, 0);
}

TEST(MeasureOnGpu, does_not_stop_a_trial_for_a_throttled_start) {
  FakeRoundWatch watch([](int part) { return RoundReading{part == 0 ? 0.01 : 0.0, 1980.0}; });
  FakeWorkload workload([&](int, std::int64_t) { return watch.parts == 0 ? 5e6 : 1e6; });
  MeasureControl control;
  control.gpu = &watch;
  control.stop_above_ns = 2e6;
  const auto result = measure(workload, timed_plan(0.2, 1), control);
  ASSERT_TRUE(result);
  EXPECT_NE(result->stop_reason, schema::StopReason::stopped_early);
  EXPECT_EQ(*std::max_element(result->latency_ns.begin(), result->latency_ns.end()), kMillisecond);
}

TEST(MeasureOnGpu, takes_the_fixed_number_of_runs_that_count) {
  FakeRoundWatch watch([](int part) { return RoundReading{part == 1 ? 0.1 : 0.0, 1980.0}; });
  FakeWorkload workload([](int, std::int64_t) { return kMillisecond; });
  MeasureControl control;
  control.gpu = &watch;
  auto plan = timed_plan(0, 0);
  plan.runs = 1000;
  const auto result = measure(workload, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->latency_ns.size(), 1000U);
  EXPECT_GT(workload.steps[0].load(), 1001);
}

TEST(MeasureOnGpu, reads_the_gpu_only_every_tenth_of_a_second_or_so) {
  FakeRoundWatch watch([](int) { return RoundReading{0.0, 1980.0}; });
  FakeWorkload workload([](int, std::int64_t) { return kMillisecond; });
  MeasureControl control;
  control.gpu = &watch;
  ASSERT_TRUE(measure(workload, timed_plan(0.5, 2), control));
  EXPECT_GE(watch.parts, 8);
  EXPECT_LE(watch.parts, 20);
}

TEST(MeasureOnGpu, counts_all_callers_after_discarding) {
  FakeRoundWatch watch([](int part) { return RoundReading{part == 1 ? 0.1 : 0.0, 1980.0}; });
  FakeWorkload workload([](int, std::int64_t) { return kMillisecond; }, 3);
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure(workload, timed_plan(0.2, 1), control);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->throughput_per_s(), 3000, 3);
}

TEST(MeasureOnGpu, flags_a_shared_gpu) {
  FakeRoundWatch watch([](int) { return RoundReading{}; });
  watch.others = 2;
  FakeWorkload workload([](int, std::int64_t) { return kMillisecond; });
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure(workload, timed_plan(0.2, 0.4), control);
  ASSERT_TRUE(result);
  const auto* flag = find_flag(result->flags, "gpu_shared");
  ASSERT_TRUE(flag);
  EXPECT_EQ(fakes::text_of(flag->message), "2 other processes were on the GPU while it was timed");
}

TEST(MeasurePairedOnGpu, takes_throttled_abba_rounds_again) {
  FakeRoundWatch watch([](int part) { return RoundReading{part == 1 ? 0.4 : 0.0, 1980.0}; });
  const auto latency = [&](double ns) {
    return [&watch, ns](int, std::int64_t) { return watch.parts == 1 ? 3 * ns : ns; };
  };
  FakeWorkload a(latency(1.1e6));
  FakeWorkload b(latency(1e6));
  schema::PairedPlan plan;
  plan.abba_rounds = 6;
  plan.min_time_s = 0;
  plan.warmup.warmup_runs = 0;
  plan.warmup.warmup_max_s = 0;
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->blocks.size(), 24U);
  std::string order;
  for (const auto& block : result->blocks) {
    order += block.arm;
    for (const double ns : block.latency_ns) EXPECT_LT(ns, 2e6);
  }
  for (std::size_t at = 0; at < order.size(); at += 8)
    EXPECT_NE(order.substr(at, 4), order.substr(at + 4, 4))
        << "the retaken ABBA round has the order of the one it replaces";
  EXPECT_TRUE(find_flag(result->flags, "throttled_rounds"));
  EXPECT_EQ(watch.totals.at(0).discarded_parts, 1);
}

TEST(MeasurePairedOnGpu, keeps_all_abba_rounds_of_a_card_that_always_throttles) {
  FakeRoundWatch watch([](int) { return RoundReading{1.0, 900.0}; });
  FakeWorkload a([](int, std::int64_t) { return kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return kMillisecond; });
  schema::PairedPlan plan;
  plan.abba_rounds = 5;
  plan.min_time_s = 0;
  plan.warmup.warmup_max_s = 0;
  MeasureControl control;
  control.gpu = &watch;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->blocks.size(), 20U);
  EXPECT_TRUE(find_flag(result->flags, "throttled"));
}

}  // namespace
}  // namespace ridgeline::measure
