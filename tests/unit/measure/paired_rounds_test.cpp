// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_rounds.hpp"
#include "fakes/words.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_workload.hpp"

namespace ridgeline::measure {
namespace {

using fakes::FakeWorkload;
using fakes::kMillisecond;

/// Sessions of one configuration, of which every second one made is slower.
class Sessions {
 public:
  explicit Sessions(double second_is) : second_is_(second_is) {}
  MakeWorkload arm(double share = 1) {
    return [this, share]() -> base::Result<std::unique_ptr<workload::Workload>> {
      if (made_ == fails_at) return base::fail(base::ErrorCode::out_of_memory, "no room for session {}", made_);
      const double latency = kMillisecond * share * (made_++ % 2 == 0 ? 1 : second_is_);
      return std::make_unique<FakeWorkload>([latency](int, std::int64_t) { return latency; });
    };
  }
  [[nodiscard]] int made() const { return made_; }
  int fails_at = -1;

 private:
  double second_is_;
  int made_ = 0;
};

schema::PairedPlan plan_of(int abba_rounds, int rounds) {
  schema::PairedPlan plan;
  plan.abba_rounds = abba_rounds;
  plan.max_abba_rounds = abba_rounds;
  plan.rounds = plan.max_rounds = rounds;
  plan.block_time_s = 0.01;
  plan.min_time_s = 0;
  plan.warmup.warmup_max_s = 0;
  return plan;
}

double log_ratio(const schema::PairedMeasurement& measurement) {
  double sum = 0;
  for (const auto& block : measurement.blocks) sum += (block.arm == 'B' ? 1 : -1) * std::log(block.latency_ns.front());
  return sum / static_cast<double>(measurement.blocks.size()) * 2;
}

TEST(MeasurePairedRounds, a_session_made_second_does_not_count_against_its_arm) {
  Sessions one(1.02);
  MeasureControl control;
  const auto biased = measure_paired_rounds(one.arm(), one.arm(), plan_of(4, 1), control);
  ASSERT_TRUE(biased) << biased.error().message;
  EXPECT_NEAR(std::abs(log_ratio(*biased)), std::log(1.02), 1e-6);
  Sessions two(1.02);
  const auto fair = measure_paired_rounds(two.arm(), two.arm(), plan_of(4, 2), control);
  ASSERT_TRUE(fair) << fair.error().message;
  EXPECT_EQ(two.made(), 4);
  EXPECT_EQ(fair->blocks.size(), 16U);
  EXPECT_NEAR(log_ratio(*fair), 0, 1e-6);
}

/// Places in memory that a session takes when it is made or runs first, and gives back in its end, as an allocator
/// does.
class Places {
 public:
  enum class Next { first_given_back, last_given_back, lowest };
  enum class Taken { when_made, when_run };
  explicit Places(Next next, Taken taken = Taken::when_run) : next_(next), taken_(taken) {}
  MakeWorkload arm() {
    return [this]() -> base::Result<std::unique_ptr<workload::Workload>> {
      const auto place =
          std::shared_ptr<int>(new int(taken_ == Taken::when_made ? take() : -1), [this](const int* held) {
            if (*held >= 0) free_.push_back(*held);
            delete held;
          });
      return std::make_unique<FakeWorkload>([this, place](int, std::int64_t) {
        if (*place < 0) *place = take();
        return kMillisecond * (*place == 0 ? 1 : 1.02);
      });
    };
  }

 private:
  int take() {
    const auto at = next_ == Next::lowest            ? std::min_element(free_.begin(), free_.end())
                    : next_ == Next::last_given_back ? free_.end() - 1
                                                     : free_.begin();
    const int place = *at;
    free_.erase(at);
    return place;
  }
  Next next_;
  Taken taken_;
  std::vector<int> free_{0, 1};
};

/// A configuration against itself over 200 rounds of an ABBA round.
schema::PairedMeasurement measure_on(Places places) {
  auto plan = plan_of(200, 200);
  plan.max_time_s = 1000;
  MeasureControl control;
  auto measured = measure_paired_rounds(places.arm(), places.arm(), plan, control);
  EXPECT_TRUE(measured && measured->blocks.size() == 800);
  return measured ? std::move(*measured) : schema::PairedMeasurement{};
}

TEST(MeasurePairedRounds, no_arm_keeps_the_better_memory) {
  for (const auto next : {Places::Next::first_given_back, Places::Next::last_given_back, Places::Next::lowest})
    EXPECT_NEAR(log_ratio(measure_on(Places(next))), 0, 0.006) << static_cast<int>(next);
}

TEST(MeasurePairedRounds, of_two_rounds_each_arm_has_either_place_once) {
  for (const auto next : {Places::Next::first_given_back, Places::Next::last_given_back, Places::Next::lowest})
    for (const auto taken : {Places::Taken::when_made, Places::Taken::when_run}) {
      Places places(next, taken);
      MeasureControl control;
      const auto measured = measure_paired_rounds(places.arm(), places.arm(), plan_of(4, 2), control);
      ASSERT_TRUE(measured) << measured.error().message;
      EXPECT_NEAR(log_ratio(*measured), 0, 1e-6) << static_cast<int>(next) << static_cast<int>(taken);
    }
}

TEST(MeasurePairedRounds, two_sessions_of_one_arm_need_not_fit_side_by_side) {
  int alive = 0;
  const MakeWorkload large = [&alive]() -> base::Result<std::unique_ptr<workload::Workload>> {
    if (alive > 0) return base::fail(base::ErrorCode::out_of_memory, "room for one only");
    ++alive;
    const auto held = std::shared_ptr<int>(&alive, [](int* count) { --*count; });
    return std::make_unique<FakeWorkload>([held](int, std::int64_t) { return kMillisecond; });
  };
  Sessions small(1);
  MeasureControl control;
  const auto measured = measure_paired_rounds(small.arm(), large, plan_of(4, 2), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->blocks.size(), 16U);
}

TEST(MeasurePairedRounds, what_memory_a_round_gives_does_not_follow_from_the_rounds_before) {
  for (const auto next : {Places::Next::first_given_back, Places::Next::last_given_back}) {
    const auto measured = measure_on(Places(next));
    std::vector<int> better;  // 1: arm A had the better place
    for (std::size_t at = 0; at < measured.blocks.size(); at += 4)
      better.push_back(
          (measured.blocks[at].arm == 'A') == (measured.blocks[at].latency_ns.front() <= kMillisecond) ? 1 : -1);
    for (const std::size_t lag : {1, 2}) {
      int agreement = 0;
      for (std::size_t at = 0; at + lag < better.size(); ++at) agreement += better[at] * better[at + lag];
      EXPECT_LT(std::abs(agreement), 60) << "of about 200, lag " << lag;
    }
  }
}

TEST(MeasurePairedRounds, a_true_difference_stays) {
  Sessions sessions(1.02);
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(1.1), plan_of(4, 2), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_NEAR(log_ratio(*measured), std::log(1.1), 1e-6);
}

TEST(MeasurePairedRounds, an_arm_that_cannot_be_made_ends_it) {
  Sessions sessions(1);
  sessions.fails_at = 3;
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(), plan_of(4, 2), control);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, base::ErrorCode::out_of_memory);
}

TEST(MeasurePairedRounds, no_round_is_made_for_less_than_a_abba_round) {
  Sessions sessions(1);
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(), plan_of(1, 4), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(sessions.made(), 2);
}

/// Sessions of one configuration that differ, as if by chance: `speeds` one after the other.
MakeWorkload chancy(std::vector<double> speeds) {
  return [speeds = std::move(speeds),
          made = std::make_shared<std::size_t>(0)]() -> base::Result<std::unique_ptr<workload::Workload>> {
    const double latency = kMillisecond * speeds[(*made)++ % speeds.size()];
    return std::make_unique<FakeWorkload>([latency](int, std::int64_t) { return latency; });
  };
}

schema::PairedPlan open_plan() {
  auto plan = plan_of(12, 6);
  plan.max_rounds = 40;
  plan.max_abba_rounds = 10000;
  plan.min_time_s = 0.6;
  plan.max_time_s = 1000;
  return plan;
}

int rounds_of(const schema::PairedMeasurement& measured) {
  return measured.blocks.empty() ? 0 : measured.blocks.back().round + 1;
}

TEST(MeasurePairedRounds, sessions_that_agree_take_the_least_number_of_rounds) {
  MeasureControl control;
  const auto measured = measure_paired_rounds(chancy({1}), chancy({1.03}), open_plan(), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(rounds_of(*measured), 6);
  EXPECT_GE(measured->blocks_s, 0.6);
  EXPECT_LT(measured->blocks_s, 1.2);
  for (std::size_t at = 1; at < measured->blocks.size(); ++at)
    EXPECT_GE(measured->blocks[at].round, measured->blocks[at - 1].round);
}

TEST(MeasurePairedRounds, sessions_that_differ_take_more_rounds_until_their_scatter_is_known) {
  MeasureControl control;
  const auto measured =
      measure_paired_rounds(chancy({1, 1.02, 0.99, 1.01, 0.985}), chancy({1, 0.985, 1.015}), open_plan(), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_GT(rounds_of(*measured), 10);
  EXPECT_LT(rounds_of(*measured), 40);
  EXPECT_EQ(rounds_of(*measured) % 2, 0) << "the order is turned as often one way as the other";
}

/// As on a GPU: two rounds where they will do.
schema::PairedPlan plan_from_two() {
  auto plan = open_plan();
  plan.rounds = 2;
  plan.max_rounds = 8;
  plan.min_time_s = 0;
  return plan;
}

TEST(MeasurePairedRounds, arms_that_are_far_apart_take_two_rounds) {
  MeasureControl control;
  const auto measured = measure_paired_rounds(chancy({1}), chancy({1.3}), plan_from_two(), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(rounds_of(*measured), 2);
  EXPECT_EQ(measured->rounds, 2);
}

TEST(MeasurePairedRounds, a_difference_that_sessions_may_have_takes_four) {
  for (const double other : {1.0, 1.03, 1.09}) {
    MeasureControl control;
    const auto measured = measure_paired_rounds(chancy({1}), chancy({other}), plan_from_two(), control);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(rounds_of(*measured), 4) << other;
  }
}

TEST(MeasurePairedRounds, what_the_order_of_making_does_takes_no_more_rounds) {
  Sessions sessions(1.04);
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(), plan_from_two(), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(rounds_of(*measured), 4);
}

TEST(MeasurePairedRounds, ends_at_the_most_rounds_abba_rounds_or_time) {
  const std::vector<double> wild{1, 1.5, 0.7, 1.2, 0.6};
  MeasureControl control;
  const auto most_rounds = measure_paired_rounds(chancy(wild), chancy({1}), open_plan(), control);
  ASSERT_TRUE(most_rounds);
  EXPECT_EQ(rounds_of(*most_rounds), 40);
  auto plan = open_plan();
  plan.max_time_s = 3;
  const auto most_time = measure_paired_rounds(chancy(wild), chancy({1}), plan, control);
  ASSERT_TRUE(most_time);
  EXPECT_GE(most_time->blocks_s, 3);
  EXPECT_LT(most_time->blocks_s, 3.5);
  plan.max_abba_rounds = 20;
  const auto most_abba_rounds = measure_paired_rounds(chancy(wild), chancy({1}), plan, control);
  ASSERT_TRUE(most_abba_rounds);
  EXPECT_GE(most_abba_rounds->blocks.size(), 20U * 4);
  EXPECT_LT(most_abba_rounds->blocks.size(), 28U * 4);
}

TEST(MeasurePairedRounds, slow_inferences_get_two_rounds_and_a_note) {
  MeasureControl control;
  auto plan = open_plan();
  plan.max_time_s = 0.5;
  const auto measured = measure_paired_rounds(chancy({100}), chancy({100}), plan, control);
  ASSERT_TRUE(measured);
  EXPECT_EQ(rounds_of(*measured), 2);
  ASSERT_EQ(measured->flags.size(), 1U);
  EXPECT_EQ(fakes::text_of(measured->flags[0].message), "the budget of 0.5 s ended after 4 of 12 ABBA rounds");
}

TEST(MeasurePairedRounds, go_on_for_the_least_number_of_samples) {
  const auto samples_with = [](schema::PairedPlan plan) {
    plan.max_time_s = 1;
    plan.min_samples = 500;
    plan.min_samples_time_s = 100;
    MeasureControl control;
    const auto measured = measure_paired_rounds(chancy({10}), chancy({10}), plan, control);
    EXPECT_TRUE(measured && measured->flags.empty());
    std::size_t samples = 0;
    for (const auto& block : measured->blocks) samples += block.arm == 'B' ? block.latency_ns.size() : 0;
    return samples;
  };
  EXPECT_GE(samples_with(open_plan()), 500U) << "as many rounds as it takes";
  EXPECT_GE(samples_with(plan_of(12, 2)), 500U) << "two rounds that last longer";
}

TEST(MeasurePairedRounds, a_budget_that_ends_every_round_is_told_once) {
  MeasureControl control;
  auto plan = plan_of(12, 2);
  plan.max_time_s = 0.2;
  const auto measured = measure_paired_rounds(chancy({10}), chancy({10}), plan, control);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->flags.size(), 1U);
  EXPECT_EQ(fakes::text_of(measured->flags[0].message), "the budget of 0.2 s ended after 8 of 12 ABBA rounds");
}

TEST(MeasurePairedRounds, what_rounds_say_with_other_figures_is_told_once_an_arm) {
  MeasureControl control;
  auto plan = plan_of(12, 4);
  plan.warmup.warmup_max_s = 0.01;
  const auto measured = measure_paired_rounds(chancy({1, 2, 3}), chancy({4, 3, 2}), plan, control);
  ASSERT_TRUE(measured);
  ASSERT_EQ(measured->flags.size(), 2U);
  EXPECT_EQ(fakes::text_of(measured->flags[0].message).substr(0, 6), "arm B:") << "which the first round begins with";
  EXPECT_EQ(fakes::text_of(measured->flags[1].message).substr(0, 6), "arm A:");
}

TEST(MeasurePairedRounds, a_round_lasts_as_long_as_making_its_sessions_did) {
  MeasureControl control;
  const auto slow_to_make = []() -> base::Result<std::unique_ptr<workload::Workload>> {
    base::system_clock().sleep_for(std::chrono::milliseconds(40));
    auto made = std::make_unique<FakeWorkload>([](int, std::int64_t) { return 1e5; });
    made->real_time = true;
    return made;
  };
  auto plan = open_plan();
  plan.min_time_s = 0.006;
  plan.max_rounds = 7;
  plan.block_time_s = 0.001;
  plan.target_half_width = 100;
  const auto measured = measure_paired_rounds(slow_to_make, slow_to_make, plan, control);
  ASSERT_TRUE(measured);
  EXPECT_GE(measured->blocks_s, 5 * 0.08) << "all rounds but the first";
}

TEST(MeasurePairedRounds, begins_no_round_that_would_not_end_in_time) {
  const auto slow_to_make = []() -> base::Result<std::unique_ptr<workload::Workload>> {
    base::system_clock().sleep_for(std::chrono::milliseconds(40));
    auto made = std::make_unique<FakeWorkload>([](int, std::int64_t) { return 1e5; });
    made->real_time = true;
    return made;
  };
  const auto within = [&](double seconds) {
    MeasureControl control;
    control.ends_within_s = seconds;
    auto plan = plan_from_two();
    plan.target_half_width = -1;
    plan.max_rounds = 6;
    plan.block_time_s = 0.001;
    plan.settle_s = 0;
    auto measured = measure_paired_rounds(slow_to_make, slow_to_make, plan, control);
    EXPECT_TRUE(measured);
    return measured ? std::move(*measured) : schema::PairedMeasurement{};
  };
  const auto cut = [](const schema::PairedMeasurement& measured) {
    return std::any_of(measured.flags.begin(), measured.flags.end(),
                       [](const auto& flag) { return flag.code == "few_rounds"; });
  };
  const auto one = within(0.01);
  EXPECT_EQ(one.rounds, 1);
  EXPECT_TRUE(cut(one));
  const auto all = within(1000);
  EXPECT_EQ(all.rounds, 6);
  EXPECT_FALSE(cut(all));
}

}  // namespace
}  // namespace ridgeline::measure
