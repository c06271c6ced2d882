// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps.hpp"

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class StepsTest : public ::testing::Test, public TraceBuilder {
 protected:
  [[nodiscard]] Steps steps() const { return find_steps(trace, nest(trace)); }
};

TEST_F(StepsTest, those_of_the_profiler_come_first) {
  for (std::int64_t i = 0; i < 4; ++i) annotation("iteration " + std::to_string(i), 1000 * i, 1000 * i + 900);
  annotation("ProfilerStep#5", 0, 2000);
  annotation("ProfilerStep#6", 2000, 4000);
  const auto found = steps();
  EXPECT_EQ(found.name, "ProfilerStep");
  ASSERT_EQ(found.steps.size(), 2U);
  EXPECT_EQ(found.at(-1), kNowhere);
  EXPECT_EQ(found.at(0), 0U);
  EXPECT_EQ(found.at(1999), 0U);
  EXPECT_EQ(found.at(2000), 1U);
  EXPECT_EQ(found.at(4000), kNowhere);
}

TEST_F(StepsTest, numbered_annotations_are_steps_from_three_on) {
  for (std::int64_t i = 0; i < 2; ++i) annotation("step " + std::to_string(i), 1000 * i, 1000 * i + 900);
  EXPECT_TRUE(steps().steps.empty());
  annotation("step 2", 5000, 5900);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t layer = 0; layer < 3; ++layer)
      annotation("layer " + std::to_string(layer), (i == 2 ? 5000 : 1000 * i) + 100 * layer,
                 (i == 2 ? 5000 : 1000 * i) + 100 * layer + 90);
  const auto found = steps();
  EXPECT_EQ(found.name, "step");
  EXPECT_EQ(found.steps.size(), 3U);
  EXPECT_TRUE(found.numbered);
}

TEST_F(StepsTest, numbered_annotations_may_lie_within_another_if_their_name_says_what_they_are) {
  annotation("main", 0, 10'000);
  annotation("epoch 1", 10, 9000);
  for (std::int64_t i = 0; i < 4; ++i) {
    annotation("train_step " + std::to_string(i), 100 + 1000 * i, 100 + 1000 * i + 900);
    for (std::int64_t layer = 0; layer < 3; ++layer)
      annotation("layer " + std::to_string(layer), 100 + 1000 * i + 250 * layer, 100 + 1000 * i + 250 * layer + 240);
  }
  EXPECT_EQ(steps().name, "train_step");
  EXPECT_EQ(steps().steps.size(), 4U);
  trace = {};
  annotation("forward", 0, 10'000);
  for (std::int64_t layer = 0; layer < 12; ++layer)
    annotation("layer " + std::to_string(layer), 100 * layer, 100 * layer + 90);
  EXPECT_TRUE(steps().steps.empty());
}

TEST_F(StepsTest, calls_of_the_outermost_module_are_steps_of_inference_only) {
  for (std::int64_t i = 0; i < 3; ++i) {
    module("Net_0", 1000 * i, 1000 * i + 900);
    module("Block_0", 1000 * i + 10, 1000 * i + 800);
    module("Block_1", 1000 * i + 810, 1000 * i + 890);
  }
  EXPECT_EQ(steps().name, "Net_0");
  EXPECT_EQ(steps().steps.size(), 3U);
  operation("autograd::engine::evaluate_function: MulBackward0", 10'000, 11'000, 2, 1, 1);
  EXPECT_TRUE(steps().steps.empty()) << "where the backward pass ends is not known";
}

TEST_F(StepsTest, steps_do_not_reach_into_the_next) {
  annotation("ProfilerStep#1", 0, 2500);
  annotation("ProfilerStep#2", 2000, 4000);
  EXPECT_EQ(steps().steps.front().end_ns, 2000);
  EXPECT_TRUE(find_steps(Trace(), nest(Trace())).steps.empty());
}

}  // namespace
}  // namespace ridgeline::trace
