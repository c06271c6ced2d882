// SPDX-License-Identifier: Apache-2.0
#include "gpu/busy_watch.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/fake_round_watch.hpp"

namespace ridgeline::gpu {
namespace {

constexpr double kFakeShare = 0.61;  ///< what the fake library's GPM says

class BusyWatchTest : public ::testing::Test {
 protected:
  BusyWatchTest() { nvml_.set(kFakeGpm, 1); }
  /// GPM of the fake wants real time to pass too.
  void pass(double seconds) {
    clock_.advance(base::from_seconds(seconds));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  /// Parts of `part_s` seconds, the GPU idle for `gap_s` after each.
  void run(int parts, double part_s, double gap_s = 0) {
    watch_.begin_timing();
    for (int i = 0; i < parts; ++i) {
      watch_.begin_part();
      pass(part_s);
      static_cast<void>(watch_.end_part());
      if (gap_s > 0) pass(gap_s);
    }
    TimedTotals totals;
    totals.kept_s = parts * part_s;
    watch_.end_timing(totals);
  }

  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  std::shared_ptr<const NvmlApi> api_ = NvmlApi::load({RL_TEST_FAKE_NVML}).value();
  fakes::FakeRoundWatch inner_{[](int part) { return RoundReading{0.5 * part, std::nullopt}; }};
  fakes::FakeClock clock_;
  GpmReader gpm_ = [this] {
    nvml_.set(kFakeGpm, 1);
    return GpmReader::open(api_, api_->device_by_index(0).value()).value();
  }();
  BusyWatch watch_{inner_, gpm_, BusyWatch::Before::pause, clock_};
};

TEST_F(BusyWatchTest, tells_the_share_of_the_timed_parts) {
  EXPECT_FALSE(watch_.busy());
  run(3, 2);
  EXPECT_NEAR(watch_.busy().value_or(0), kFakeShare, 1e-3);
}

TEST_F(BusyWatchTest, parts_shorter_than_a_look_is_worth_count) {
  run(4, 0.1);
  EXPECT_NEAR(watch_.busy().value_or(0), kFakeShare, 1e-3);
}

TEST_F(BusyWatchTest, what_the_counters_lag_behind_is_left_out) {
  run(3, 0.1);  // 0.2 s into it the first look is worth something, and the last comes too soon after it
  EXPECT_FALSE(watch_.busy());
  run(2, 0.2);
  EXPECT_TRUE(watch_.busy());
  run(1, 10);
  EXPECT_FALSE(watch_.busy()) << "there was one look";
}

TEST_F(BusyWatchTest, nothing_is_left_out_after_the_same_work) {
  BusyWatch watch(inner_, gpm_, BusyWatch::Before::same_work, clock_);
  watch.begin_timing();
  watch.begin_part();
  pass(10);
  static_cast<void>(watch.end_part());
  TimedTotals totals;
  totals.kept_s = 10;
  watch.end_timing(totals);
  EXPECT_NEAR(watch.busy().value_or(0), kFakeShare, 1e-3);
}

TEST_F(BusyWatchTest, gaps_between_parts_are_not_the_parts) {
  run(4, 1, 0.1);
  EXPECT_NEAR(watch_.busy().value_or(0), kFakeShare * 4.4 / 4, 1e-3);
  run(4, 1, 1);
  EXPECT_EQ(watch_.busy(), 1) << "never more than all of it";
}

TEST_F(BusyWatchTest, hands_everything_on) {
  watch_.begin_timing();
  watch_.begin_part();
  EXPECT_TRUE(inner_.open);
  EXPECT_EQ(watch_.end_part().throttled_s, 0);
  watch_.begin_part();
  EXPECT_EQ(watch_.end_part().throttled_s, 0.5);
  TimedTotals totals;
  totals.items = 64;
  watch_.end_timing(totals);
  inner_.others = 2;
  EXPECT_EQ(watch_.neighbours(), 2);
  EXPECT_EQ(inner_.begun, 1);
  ASSERT_EQ(inner_.totals.size(), 1U);
  EXPECT_EQ(inner_.totals[0].items, 64);
}

TEST_F(BusyWatchTest, a_gpu_that_does_not_answer_gives_no_share) {
  nvml_.set(kFakeDeviceError, 15);
  run(3, 2);
  EXPECT_FALSE(watch_.busy());
  nvml_.set(kFakeDeviceError, 0);
  run(3, 2);
  EXPECT_TRUE(watch_.busy()) << "the next trial has one";
}

}  // namespace
}  // namespace ridgeline::gpu
