// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fakes/fake_workload.hpp"
#include "fakes/words.hpp"
#include "measure/abba_ratio.hpp"
#include "measure/measurement_session.hpp"

namespace ridgeline::measure {
namespace {

using fakes::FakeWorkload;
using fakes::kMillisecond;

schema::PairedPlan plan_of(int abba_rounds) {
  schema::PairedPlan plan;
  plan.abba_rounds = abba_rounds;
  plan.block_time_s = 0.1;
  plan.discard_time_s = 0;
  plan.min_time_s = 0;
  plan.warmup.warmup_max_s = 0;
  plan.warmup.warmup_runs = 2;
  return plan;
}

std::string order_of(const schema::PairedMeasurement& measurement) {
  std::string order;
  for (const auto& block : measurement.blocks) order += block.arm;
  return order;
}

TEST(MeasurePaired, mirrors_one_of_every_two_abba_rounds_by_chance) {
  std::string all;
  for (const std::uint64_t seed : {1, 2}) {
    FakeWorkload a([](int, std::int64_t) { return kMillisecond; });
    FakeWorkload b([](int, std::int64_t) { return kMillisecond; });
    auto plan = plan_of(200);
    plan.block_time_s = 0;
    plan.max_time_s = 1e9;
    MeasureControl control;
    const auto result = measure_paired(a, b, plan, control, {seed, false});
    ASSERT_TRUE(result) << result.error().message;
    const auto order = order_of(*result);
    ASSERT_EQ(order.size(), 800U);
    int straight = 0;
    for (std::size_t at = 0; at < order.size(); at += 8) {
      const auto pair = order.substr(at, 8);
      straight += pair == "ABBABAAB";
      EXPECT_TRUE(pair == "ABBABAAB" || pair == "BAABABBA") << pair;
    }
    EXPECT_GT(straight, 30);
    EXPECT_LT(straight, 70);
    EXPECT_NE(order, all) << "another seed, another order";
    all = order;
  }
}

TEST(MeasurePaired, is_not_fooled_by_a_disturbance_in_step_with_its_blocks) {
  // Every block at the place of an A in ABBABAAB takes a tenth longer, whoever runs in it.
  std::int64_t steps = 0;
  const auto latency = [&](int, std::int64_t) {
    constexpr std::int64_t kWarmUpSteps = 6;
    const auto place = static_cast<std::size_t>(std::max<std::int64_t>(0, steps++ - kWarmUpSteps) / 4 % 8);
    return kMillisecond * (std::string_view("ABBABAAB")[place] == 'A' ? 1.1 : 1.0);
  };
  FakeWorkload a(latency);
  FakeWorkload b(latency);
  auto plan = plan_of(400);
  plan.block_time_s = 0;
  plan.max_time_s = 1e9;
  MeasureControl control;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result) << result.error().message;
  double sum = 0;
  for (std::size_t at = 0; at + 4 <= result->blocks.size(); at += 4) sum += abba_log_ratio(&result->blocks[at]);
  EXPECT_NEAR(sum / 400, 0, 0.02);
}

TEST(MeasurePaired, times_both_arms_alike) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return 20 * kMillisecond; });
  b.items = 2;
  MeasureControl control;
  const auto result = measure_paired(a, b, plan_of(4), control);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->items_per_inference_a, 1);
  EXPECT_EQ(result->items_per_inference_b, 2);
  for (const auto& block : result->blocks) {
    EXPECT_EQ(block.latency_ns,
              std::vector<double>(block.arm == 'A' ? 10 : 5, block.arm == 'A' ? 10 * kMillisecond : 20 * kMillisecond));
    EXPECT_EQ(block.wall_ns, 100 * kMillisecond);
  }
  // First run, two warm-up runs, then eight blocks with one discarded run each.
  EXPECT_EQ(a.steps[0].load(), 1 + 2 + 8 * 11);
  EXPECT_EQ(b.steps[0].load(), 1 + 2 + 8 * 6);
  EXPECT_EQ(control.phase.load(), schema::TrialPhase::measure);
}

TEST(MeasurePaired, does_not_count_the_discarded_runs) {
  // The first two inferences after the other arm ran are slow.
  FakeWorkload* other = nullptr;
  std::int64_t seen = -1;
  std::int64_t since = 0;
  FakeWorkload b([](int, std::int64_t) { return kMillisecond; });
  FakeWorkload a([&](int, std::int64_t) {
    since = other->steps[0].load() == seen ? since + 1 : 0;
    seen = other->steps[0].load();
    return since < 2 ? 30 * kMillisecond : kMillisecond;
  });
  other = &b;
  auto plan = plan_of(4);
  plan.discard_runs = 2;
  MeasureControl control;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  for (std::size_t i = 0; i < result->blocks.size(); ++i) {
    const bool after_other = i == 0 || result->blocks[i - 1].arm != result->blocks[i].arm;
    if (after_other) {
      EXPECT_EQ(result->blocks[i].latency_ns.front(), kMillisecond) << i;
    }
  }
}

TEST(MeasurePaired, cancels_a_linear_drift_within_a_abba_round) {
  // One time line for both arms: everything gets slower by 1 % an inference.
  std::int64_t clock = 0;
  const auto drifting = [&](int, std::int64_t) { return kMillisecond * (1 + 0.01 * static_cast<double>(clock++)); };
  FakeWorkload a(drifting);
  FakeWorkload b(drifting);
  auto plan = plan_of(4);
  plan.block_time_s = 0;
  plan.min_block_runs = 5;
  MeasureControl control;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  for (std::size_t abba_round = 0; abba_round < 4; ++abba_round) {
    double log_ratio = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& block = result->blocks[abba_round * 4 + i];
      ASSERT_EQ(block.latency_ns.size(), 5U);
      log_ratio += (block.arm == 'A' ? 1 : -1) * std::log(block.latency_ns[2]) / 2;
    }
    EXPECT_NEAR(log_ratio, 0, 0.01) << abba_round;
  }
}

TEST(MeasurePaired, does_the_least_runs_of_a_block) {
  FakeWorkload a([](int, std::int64_t) { return 1e9; });
  FakeWorkload b([](int, std::int64_t) { return 1e9; });
  MeasureControl control;
  const auto result = measure_paired(a, b, plan_of(4), control);
  ASSERT_TRUE(result);
  for (const auto& block : result->blocks) EXPECT_EQ(block.latency_ns.size(), 3U);
}

TEST(MeasurePaired, stops_after_the_budget_but_not_before_four_abba_rounds) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return 10 * kMillisecond; });
  MeasureControl control;
  auto plan = plan_of(40);
  plan.max_time_s = 0.01;
  auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->blocks.size(), 16U);
  plan.max_time_s = 2.5;  // an ABBA round takes 0.44 s
  result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->blocks.size(), 6U * 4);
  ASSERT_EQ(result->flags.size(), 1U);
  EXPECT_EQ(result->flags[0].code, "time_budget");
}

/// Blocks of a machine whose speed jumps from inference to inference by up to `share`.
FakeWorkload jumpy(std::uint64_t seed, double share) {
  return FakeWorkload([random = std::make_shared<base::Random>(seed), share](int, std::int64_t) {
    return 50 * kMillisecond * (1 + share * random->uniform());
  });
}

TEST(MeasurePaired, goes_on_until_the_interval_is_narrow) {
  auto a = jumpy(1, 0.3);
  auto b = jumpy(2, 0.3);
  MeasureControl control;
  auto plan = plan_of(6);
  plan.max_time_s = 1000;
  plan.max_abba_rounds = 1000;
  plan.target_half_width = 0.02;
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  EXPECT_GT(result->blocks.size(), 6U * 4);
  EXPECT_LT(result->blocks.size(), 300U * 4);
  plan.max_abba_rounds = 9;
  plan.target_half_width = 0.0001;
  const auto limited = measure_paired(a, b, plan, control);
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->blocks.size(), 9U * 4);
}

TEST(MeasurePaired, does_no_more_abba_rounds_than_planned_when_the_interval_is_narrow) {
  auto a = jumpy(1, 0.001);
  auto b = jumpy(2, 0.001);
  MeasureControl control;
  const auto result = measure_paired(a, b, plan_of(6), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->blocks.size(), 6U * 4);
}

TEST(MeasurePaired, goes_on_for_the_least_time) {
  auto a = jumpy(1, 0.001);
  auto b = jumpy(2, 0.001);
  MeasureControl control;
  auto plan = plan_of(6);
  plan.min_time_s = 8;  // an ABBA round takes 0.8 s: three inferences of 50 ms a block and one that is not counted
  const auto result = measure_paired(a, b, plan, control);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->blocks.size(), 10U * 4);
}

TEST(MeasurePaired, goes_on_for_the_least_number_of_samples) {
  const auto samples_within = [](double most_s, std::vector<schema::QualityFlag>& flags) {
    auto a = jumpy(1, 0.001);
    auto b = jumpy(2, 0.001);
    auto plan = plan_of(6);
    plan.max_abba_rounds = 6;  // of six samples an arm
    plan.max_time_s = 1;
    plan.min_samples = 100;
    plan.min_samples_time_s = most_s;
    MeasureControl control;
    auto result = measure_paired(a, b, plan, control);
    std::size_t samples = 0;
    for (const auto& block : result->blocks) samples += block.arm == 'A' ? block.latency_ns.size() : 0;
    flags = result->flags;
    return samples;
  };
  std::vector<schema::QualityFlag> flags;
  EXPECT_EQ(samples_within(60, flags), 102U);
  EXPECT_TRUE(flags.empty());
  EXPECT_LT(samples_within(8, flags), 70U) << "an ABBA round takes 0.8 s";
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(fakes::text_of(flags[0].message), "the budget of 8 s ended after 60 of 100 samples per side");
}

TEST(MeasurePaired, discards_for_the_time_asked_for) {
  const auto steps_with = [](double discard_s) {
    FakeWorkload a([](int, std::int64_t) { return kMillisecond; });
    FakeWorkload b([](int, std::int64_t) { return kMillisecond; });
    auto plan = plan_of(4);
    plan.discard_time_s = discard_s;
    MeasureControl control;
    const auto result = measure_paired(a, b, plan, control);
    EXPECT_TRUE(result);
    if (result) {
      EXPECT_EQ(result->blocks.front().latency_ns.size(), 100U);
    }
    return a.steps[0].load();
  };
  EXPECT_EQ(steps_with(0.0045) - steps_with(0), 8 * (5 - 1)) << "an arm has eight blocks, each discards one at least";
}

TEST(MeasurePaired, never_sleeps_on_a_virtual_clock) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return 10 * kMillisecond; });
  auto plan = plan_of(4);
  plan.settle_s = 3600;
  MeasureControl control;
  ASSERT_TRUE(measure_paired(a, b, plan, control));
  EXPECT_EQ(a.fake_clock().sleeps.load() + b.fake_clock().sleeps.load(), 0);
}

TEST(MeasurePaired, pauses_before_each_block_on_the_system_clock) {
  FakeWorkload a([](int, std::int64_t) { return 1e5; });
  FakeWorkload b([](int, std::int64_t) { return 1e5; });
  a.real_time = b.real_time = true;
  auto plan = plan_of(4);
  plan.block_time_s = 0.001;
  plan.settle_s = 0.005;
  MeasureControl control;
  const auto start = base::system_clock().now();
  ASSERT_TRUE(measure_paired(a, b, plan, control));
  EXPECT_GE(base::to_seconds(base::system_clock().now() - start), 16 * 0.002);
}

TEST(MeasurePaired, times_all_callers_of_a_block) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; }, 2);
  FakeWorkload b([](int, std::int64_t) { return 10 * kMillisecond; }, 5);
  MeasureControl control;
  const auto result = measure_paired(a, b, plan_of(4), control);
  ASSERT_TRUE(result);
  for (const auto& block : result->blocks) {
    EXPECT_EQ(block.latency_ns.size(), block.arm == 'A' ? 20U : 50U);
    EXPECT_DOUBLE_EQ(block.wall_ns, 100 * kMillisecond);
  }
}

TEST(MeasurePaired, keeps_only_whole_abba_rounds_when_cancelled) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return 10 * kMillisecond; });
  MeasureControl control;
  b.on_step = [&](int, std::int64_t index) {
    if (index == 3 + 3 * 11 + 5) control.cancel = true;  // in its fourth block
  };
  const auto result = measure_paired(a, b, plan_of(8), control);
  ASSERT_TRUE(result);
  EXPECT_EQ(order_of(*result).size(), 4U);
  EXPECT_EQ(result->flags.back().code, "cancelled");
}

TEST(MeasurePaired, returns_an_arms_error) {
  FakeWorkload a([](int, std::int64_t) { return 10 * kMillisecond; });
  FakeWorkload b([](int, std::int64_t) { return 10 * kMillisecond; });
  b.fail_at = 30;
  MeasureControl control;
  const auto result = measure_paired(a, b, plan_of(8), control);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::out_of_memory);
}

/// An arm that says what the process that it runs in has used.
class OutsideArm final : public PairedArm {
 public:
  explicit OutsideArm(ProcessUse per_block) : per_block_(per_block) {}
  base::Result<std::optional<schema::QualityFlag>> warm_up(const schema::MeasurementPlan& /*plan*/) override {
    return std::nullopt;
  }
  base::Result<TimedBlock> run_block(const schema::PairedPlan& /*plan*/) override {
    base::system_clock().sleep_for(std::chrono::milliseconds(30));
    ++blocks_;
    TimedBlock block;
    block.complete = true;
    block.latency_ns = {30 * kMillisecond};
    block.wall_ns = 30 * kMillisecond;
    block.timed_s = 0.03;
    return block;
  }
  double items_per_inference() const override { return 1; }
  bool real_time() const override { return true; }
  std::vector<schema::QualityFlag> flags() const override { return {}; }
  ProcessUse outside_use() const override {
    return {per_block_.cpu_s * blocks_, per_block_.involuntary_switches * blocks_};
  }

 private:
  const ProcessUse per_block_;
  int blocks_ = 0;
};

/// With one arm that used nothing.
schema::PairedMeasurement measured_beside(ProcessUse per_block) {
  OutsideArm a({});
  OutsideArm b(per_block);
  auto plan = plan_of(4);
  plan.max_time_s = 0;  // four ABBA rounds, also where others disturb them
  MeasureControl control;
  auto result = measure_paired(a, b, plan, control);
  EXPECT_TRUE(result);
  return result ? std::move(*result) : schema::PairedMeasurement{};
}

TEST(MeasurePaired, does_not_take_the_work_of_an_arms_process_for_that_of_others) {
  // More than any host could do, and less than nothing: what others really do meanwhile does not matter.
  const auto working = measured_beside({1e4, 0});
  ASSERT_EQ(working.blocks.size(), 16U);
  for (const auto& block : working.blocks) EXPECT_EQ(block.taken, 0);
  for (const auto& block : measured_beside({-1e4, 0}).blocks) EXPECT_GT(block.taken, 1000);
}

TEST(MeasurePaired, counts_the_switches_of_an_arms_process) {
  const auto flags = measured_beside({0, 100'000}).flags;
  if (schema::has_flag(flags, "stolen")) GTEST_SKIP() << "the hypervisor takes processor time, which is said instead";
  EXPECT_TRUE(schema::has_flag(flags, "disturbed"));
}

}  // namespace
}  // namespace ridgeline::measure
