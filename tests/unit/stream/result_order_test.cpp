// SPDX-License-Identifier: Apache-2.0
#include "stream/result_order.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stream {
namespace {

FrameResult result_of(std::uint32_t source, std::uint64_t sequence, std::optional<DropReason> dropped = {}) {
  FrameResult result;
  result.frame.source = source;
  result.frame.sequence = sequence;
  result.dropped = dropped;
  return result;
}

TEST(ResultOrder, results_and_gaps_leave_in_order) {
  ResultOrder order(8);
  for (std::uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(order.announce(0, n));
  std::vector<FrameResult> out;
  ASSERT_TRUE(order.put(result_of(0, 2), out));
  ASSERT_TRUE(order.put(result_of(0, 1, DropReason::deadline), out));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(order.held(), 2U);
  ASSERT_TRUE(order.put(result_of(0, 0), out));
  ASSERT_EQ(out.size(), 3U);
  for (std::uint64_t n = 0; n < 3; ++n) EXPECT_EQ(out[n].frame.sequence, n);
  EXPECT_EQ(out[1].dropped, DropReason::deadline);
  EXPECT_EQ(order.awaited(), 0U);
  EXPECT_EQ(order.held(), 0U);
}

TEST(ResultOrder, one_source_does_not_hold_up_another) {
  ResultOrder order(8);
  for (const std::uint32_t source : {0U, 1U})
    for (std::uint64_t n = 0; n < 2; ++n) ASSERT_TRUE(order.announce(source, n));
  std::vector<FrameResult> out;
  ASSERT_TRUE(order.put(result_of(0, 1), out));
  ASSERT_TRUE(order.put(result_of(1, 0), out));
  ASSERT_TRUE(order.put(result_of(1, 1), out));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].frame.source, 1U);
}

TEST(ResultOrder, what_comes_twice_or_never_came_in_is_an_error) {
  ResultOrder order(8);
  std::vector<FrameResult> out;
  EXPECT_FALSE(order.put(result_of(0, 0), out));
  for (std::uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(order.announce(0, n));
  EXPECT_FALSE(order.announce(0, 2));
  EXPECT_FALSE(order.announce(0, 4));
  EXPECT_FALSE(order.put(result_of(0, 3), out));
  ASSERT_TRUE(order.put(result_of(0, 1), out));
  EXPECT_FALSE(order.put(result_of(0, 1), out));  // still held
  ASSERT_TRUE(order.put(result_of(0, 0), out));
  const auto twice = order.put(result_of(0, 0), out);  // has left
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "a second result for frame 0 of source 0");
  EXPECT_EQ(out.size(), 2U);
}

TEST(ResultOrder, holds_no_more_than_its_window_of_a_source) {
  ResultOrder order(100);
  for (std::uint64_t n = 0; n < 100; ++n) {
    EXPECT_TRUE(order.has_room(0));
    ASSERT_TRUE(order.announce(0, n));
  }
  EXPECT_FALSE(order.has_room(0));
  EXPECT_TRUE(order.has_room(1));
  EXPECT_FALSE(order.announce(0, 100));
  std::vector<FrameResult> out;
  for (std::uint64_t n = 99; n > 0; --n) ASSERT_TRUE(order.put(result_of(0, n), out));
  EXPECT_TRUE(out.empty());
  ASSERT_TRUE(order.put(result_of(0, 0), out));
  EXPECT_EQ(out.size(), 100U);
  EXPECT_TRUE(order.has_room(0));
}

TEST(ResultOrder, any_order_of_coming_gives_the_one_order_of_leaving) {
  constexpr std::uint64_t kFrames = 5000;
  base::Random random(17);
  ResultOrder order(kFrames);
  std::vector<std::uint64_t> coming;
  std::vector<FrameResult> out;
  std::uint64_t announced = 0;
  while (announced < kFrames || !coming.empty()) {
    if (announced < kFrames && (coming.empty() || random.uniform() < 0.5)) {
      ASSERT_TRUE(order.announce(3, announced));
      coming.push_back(announced++);
      continue;
    }
    std::swap(coming[random.below(coming.size())], coming.back());
    ASSERT_TRUE(order.put(result_of(3, coming.back()), out));
    coming.pop_back();
  }
  ASSERT_EQ(out.size(), kFrames);
  for (std::uint64_t n = 0; n < kFrames; ++n) ASSERT_EQ(out[n].frame.sequence, n);
}

}  // namespace
}  // namespace ridgeline::stream
