// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/recording_cost.hpp"

#include <gtest/gtest.h>

#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

trace::RecordedProcess with(std::int64_t without_ns, std::int64_t with_ns, std::int64_t spread_ns) {
  trace::RecordedProcess out;
  out.step_without_ns = without_ns;
  out.step_with_ns = with_ns;
  out.step_spread_ns = spread_ns;
  return out;
}

TEST(RecordingCost, is_that_of_the_process_in_which_it_is_most) {
  EXPECT_EQ(recording_cost({{}, with(1'000'000, 1'050'000, 10'000), with(2'000'000, 2'240'000, 20'000)}),
            messages::recording_cost({.share = 0.12, .with = 2'240'000, .without = 2'000'000}));
}

TEST(RecordingCost, is_no_number_where_steps_differ_by_more) {
  EXPECT_EQ(recording_cost({with(1'000'000, 1'005'000, 20'000)}),
            messages::recording_cost_small({.share = 0.02, .without = 1'000'000}));
  EXPECT_EQ(recording_cost({with(1'000'000, 990'000, 20'000)}),
            messages::recording_cost_small({.share = 0.02, .without = 1'000'000}));
}

TEST(RecordingCost, is_not_known_without_steps_after_the_recorded_ones) {
  EXPECT_EQ(recording_cost({trace::RecordedProcess()}), messages::recording_cost_unknown());
}

}  // namespace
}  // namespace ridgeline::campaign
