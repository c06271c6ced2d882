// SPDX-License-Identifier: Apache-2.0
#include "trace/export/slice_lanes.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

class SliceLanesTest : public ::testing::Test {
 protected:
  Slice range(std::int64_t start, std::int64_t end) {
    trace_.ranges.add(start, end - start, 0, 0, 0);
    return {static_cast<Place>(trace_.ranges.size() - 1), Table::ranges};
  }
  Slice call(std::int64_t start, std::int64_t end) {
    trace_.calls.add(start, end - start, 0, 0, 0);
    return {static_cast<Place>(trace_.calls.size() - 1), Table::calls};
  }
  Trace trace_;
};

TEST_F(SliceLanesTest, what_overlaps_without_nesting_goes_to_another_lane) {
  const auto crossing = range(50, 150);
  const auto outer = range(0, 100);
  const auto inner = range(10, 50);
  const auto in_crossing = range(60, 120);
  const auto after = range(150, 160);
  const auto at_a_moment = range(100, 100);
  EXPECT_EQ(split_into_lanes(SliceTimes(trace_), {crossing, outer, inner, in_crossing, after, at_a_moment}),
            (std::vector<SliceLane>{{outer, inner, at_a_moment, after}, {crossing, in_crossing}}));
  EXPECT_TRUE(split_into_lanes(SliceTimes(trace_), {}).empty());
}

TEST_F(SliceLanesTest, equal_slices_nest_in_the_order_of_the_file) {
  const auto first = range(0, 10);
  const auto second = range(0, 10);
  const auto called = call(0, 10);
  EXPECT_EQ(split_into_lanes(SliceTimes(trace_), {called, second, first}),
            (std::vector<SliceLane>{{first, second, called}}));
}

TEST_F(SliceLanesTest, viewers_take_no_deeper_lane) {
  std::vector<Slice> slices;
  for (int i = 0; i < 1200; ++i) slices.push_back(range(i, 3000 - i));
  const auto lanes = split_into_lanes(SliceTimes(trace_), slices);
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_EQ(lanes[0].size(), 500U);
  EXPECT_EQ(lanes[2].size(), 200U);
}

TEST_F(SliceLanesTest, calls_are_added_only_where_nothing_crosses_them) {
  SliceLane lane{range(0, 100), range(20, 40), range(200, 300)};
  const auto within = call(25, 30);
  const auto around = call(10, 50);
  const auto crossing_a_beginning = call(15, 30);
  const auto crossing_an_end = call(90, 110);
  const auto between = call(100, 200);
  const auto last = call(300, 310);
  const auto ranges = lane;
  EXPECT_EQ(
      add_what_nests(SliceTimes(trace_), {last, between, within, around, crossing_a_beginning, crossing_an_end}, lane),
      (std::vector<Slice>{crossing_a_beginning, crossing_an_end}));
  EXPECT_EQ(lane, (SliceLane{ranges[0], around, ranges[1], within, between, ranges[2], last}));
}

TEST_F(SliceLanesTest, an_end_that_does_not_fit_is_the_last_moment) {
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  trace_.ranges.add(5, kLast, 0, 0, 0);
  EXPECT_EQ(SliceTimes(trace_).end({0, Table::ranges}), kLast);
}

TEST_F(SliceLanesTest, on_a_row_nothing_overlaps) {
  const auto crossing = range(50, 150);
  const auto outer = range(0, 100);
  const auto inner = range(10, 50);
  const auto innermost = range(20, 30);
  const auto after = range(100, 160);
  const std::vector<Slice> slices{innermost, crossing, outer, inner, after};
  EXPECT_EQ(split_into_rows(SliceTimes(trace_), slices, 10),
            (std::vector<SliceLane>{{outer, after}, {inner, crossing}, {innermost}}));
  EXPECT_EQ(split_into_rows(SliceTimes(trace_), slices, 2),
            (std::vector<SliceLane>{{outer, after}, {inner, crossing}}));
}

}  // namespace
}  // namespace ridgeline::trace
