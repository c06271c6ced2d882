// SPDX-License-Identifier: Apache-2.0
#include "measure/disturbance.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

namespace ridgeline::measure {
namespace {

TEST(Disturbance, is_silent_on_a_quiet_machine) {
  EXPECT_FALSE(judge_disturbance({0, 0, 0, 0}, {40, 5000, 0, 1000}, 5, 500));      // 8 a second
  EXPECT_FALSE(judge_disturbance({0, 0, 0, 0}, {400, 5000, 0, 1000}, 5, 100000));  // rare an inference
}

TEST(Disturbance, names_preemption_and_steal) {
  const auto preempted = judge_disturbance({100, 0, 0, 0}, {1100, 0, 0, 1000}, 5, 500);
  ASSERT_TRUE(preempted);
  EXPECT_EQ(preempted->code, "disturbed");
  EXPECT_NE(
      fakes::text_of(preempted->message).find("1000 involuntary context switches in 500 inferences (200 per second)"),
      std::string::npos);
  const auto stolen = judge_disturbance({0, 0, 10, 1000}, {0, 0, 60, 2000}, 5, 500);
  ASSERT_TRUE(stolen);
  EXPECT_EQ(stolen->code, "stolen");
  EXPECT_NE(fakes::text_of(stolen->message).find("5.0 %"), std::string::npos);
}

TEST(Disturbance, reads_rising_counters) {
  const auto before = read_disturbance();
  EXPECT_GT(before.total_ticks, 0);
  EXPECT_GE(read_disturbance().total_ticks, before.total_ticks);
}

}  // namespace
}  // namespace ridgeline::measure
