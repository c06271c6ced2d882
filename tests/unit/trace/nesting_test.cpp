// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/nesting.hpp"

#include <gtest/gtest.h>

#include "trace/analysis/launch_index.hpp"

namespace ridgeline::trace {
namespace {

class NestingTest : public ::testing::Test {
 protected:
  Place range(std::int64_t start, std::int64_t end, ThreadLane lane = {1, 1}, RangeKind kind = RangeKind::operation) {
    auto& ranges = trace_.ranges;
    ranges.add(start, end - start, 0, trace_.thread_lane(lane), 0);
    ranges.kind.push_back(kind);
    return static_cast<Place>(ranges.size() - 1);
  }
  Place call(std::int64_t start, std::int64_t correlation = 0, ThreadLane lane = {1, 1}) {
    auto& calls = trace_.calls;
    calls.add(start, 1, 0, trace_.thread_lane(lane), correlation);
    return static_cast<Place>(calls.size() - 1);
  }
  void kernel(std::int64_t correlation, std::int64_t process) {
    trace_.kernels.add(0, 1, 0, trace_.gpu_lane({process, 0, 0, 0}), correlation);
  }
  Trace trace_;
};

TEST_F(NestingTest, the_innermost_open_range_encloses) {
  const auto before = call(5);
  const auto inner = range(20, 30);
  const auto outer = range(10, 100);
  const auto in_inner = call(25);
  const auto at_its_end = call(30);
  const auto second = range(30, 60);
  const auto same = range(30, 40);
  const auto elsewhere = range(20, 90, {1, 2});
  const auto on_that = call(85, 0, {1, 2});
  const auto after = call(100);
  const auto at_a_start = call(20);
  const auto nesting = nest(trace_);
  EXPECT_EQ(nesting.parent_of_range[outer], kNowhere);
  EXPECT_EQ(nesting.parent_of_range[inner], outer);
  EXPECT_EQ(nesting.parent_of_range[second], outer);
  EXPECT_EQ(nesting.parent_of_range[same], second);
  EXPECT_EQ(nesting.parent_of_range[elsewhere], kNowhere);
  EXPECT_EQ(nesting.range_of_call[before], kNowhere);
  EXPECT_EQ(nesting.range_of_call[in_inner], inner);
  EXPECT_EQ(nesting.range_of_call[at_its_end], same);
  EXPECT_EQ(nesting.range_of_call[on_that], elsewhere);
  EXPECT_EQ(nesting.range_of_call[after], kNowhere);
  EXPECT_EQ(nesting.range_of_call[at_a_start], inner);
}

/// NVTX's ranges of start and end are not of a thread's stack.
TEST_F(NestingTest, an_annotation_that_outlasts_another_is_no_part_of_it) {
  const auto annotation = [&](std::int64_t start_us, std::int64_t end_us) {
    return range(1000 * start_us, 1000 * end_us, {1, 1}, RangeKind::annotation);
  };
  const auto around = annotation(0, 100);
  const auto pushed = annotation(10, 30);
  const auto outlasting = annotation(20, 60);
  const auto within = annotation(22, 24);
  const auto in_both = call(26'000);
  const auto behind = call(40'000);
  const auto rounded = annotation(70, 80);
  const auto in_rounded = annotation(75, 81);
  const auto last = annotation(90, 200);
  const auto nesting = nest(trace_);
  EXPECT_EQ(nesting.parent_of_range[pushed], around);
  EXPECT_EQ(nesting.parent_of_range[outlasting], around);
  EXPECT_EQ(nesting.parent_of_range[within], pushed);
  EXPECT_EQ(nesting.range_of_call[in_both], pushed);
  EXPECT_EQ(nesting.range_of_call[behind], outlasting);
  EXPECT_EQ(nesting.parent_of_range[in_rounded], rounded);
  EXPECT_EQ(nesting.parent_of_range[last], kNowhere);
  EXPECT_EQ(ranges_at(trace_, nesting, {{0, 25'000}, {0, 40'000}}), (std::vector<Place>{pushed, outlasting}));
}

TEST_F(NestingTest, calls_without_ranges_are_nowhere) {
  const auto only = call(5);
  EXPECT_EQ(nest(trace_).range_of_call[only], kNowhere);
  EXPECT_TRUE(nest(Trace()).parent_of_range.empty());
}

TEST_F(NestingTest, kernels_find_the_call_of_their_process) {
  const auto driver = call(11, 7, {1, 1});
  const auto runtime = call(10, 7, {1, 1});
  const auto other = call(1, 7, {2, 1});
  kernel(7, 1);
  kernel(7, 2);
  kernel(8, 1);
  kernel(0, 1);
  call(0, 0);
  EXPECT_EQ(LaunchIndex(trace_).calls_of(trace_.kernels), (std::vector<Place>{runtime, other, kNowhere, kNowhere}));
  EXPECT_NE(driver, runtime);
  trace_.kernels = {};
  kernel(7, 0);
  EXPECT_EQ(LaunchIndex(trace_).calls_of(trace_.kernels).at(0), other) << "the process of the kernel is not known";
}

TEST_F(NestingTest, copies_find_their_call_as_kernels_do) {
  std::vector<Place> expected;
  for (std::int64_t i = 1; i <= 1000; ++i) {
    expected.push_back(call(i, i << 32));
    trace_.copies.add(i, 1, 0, trace_.gpu_lane({1, 0, 0, i % 3}), i << 32);
  }
  trace_.copies.add(5, 1, 0, 0, 77);
  expected.push_back(kNowhere);
  EXPECT_EQ(LaunchIndex(trace_).calls_of(trace_.copies), expected);
}

}  // namespace
}  // namespace ridgeline::trace
