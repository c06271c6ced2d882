// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_join.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class CounterJoinTest : public ::testing::Test, public TraceBuilder {
 protected:
  void counted(std::string_view name, Dim3 grid = {1000, 1, 1}) {
    counters.name.push_back(counters.strings.id(name));
    counters.grid.push_back(grid);
    counters.block.push_back({128, 1, 1});
  }
  KernelCounters counters;
};

TEST_F(CounterJoinTest, equals_are_joined_in_their_order) {
  // The file has them in another order than they began.
  kernel("void f<4>(int)", 300, 310, 0);
  kernel("void f<4>(int)", 100, 110, 0);
  kernel("void f<4>(int)", 200, 210, 0, 7, {5, 1, 1});
  counted("f<(int)4>(int)");
  counted("f<(int)4>(int)", {5, 1, 1});
  counted("f<(int)4>(int)");
  const auto join = join_counters(trace, counters);
  EXPECT_EQ(join.row, (std::vector<Place>{2, 0, 1}));
  EXPECT_EQ(join.matched, 3U);
  EXPECT_TRUE(join.only_counters.empty());
  EXPECT_TRUE(join.only_trace.empty());
}

TEST_F(CounterJoinTest, the_order_is_that_of_the_launches) {
  // Two streams: the kernel that was launched first begins last.
  call("cudaLaunchKernel", 10, 20, 1);
  call("cudaLaunchKernel", 30, 40, 2);
  kernel("f", 500, 600, 1, 7);
  kernel("f", 100, 200, 2, 8);
  counted("f");
  counted("f");
  EXPECT_EQ(join_counters(trace, counters).row, (std::vector<Place>{0, 1}));
}

TEST_F(CounterJoinTest, one_step_of_several_repeats) {
  for (std::int64_t i = 0; i < 6; ++i) kernel("f", 100 * i, 100 * i + 50, 0);
  counted("f");
  counted("f");
  EXPECT_EQ(join_counters(trace, counters).row, (std::vector<Place>{0, 1, 0, 1, 0, 1}));
}

TEST_F(CounterJoinTest, what_only_one_has_is_listed) {
  for (std::int64_t i = 0; i < 3; ++i) kernel("f", 100 * i, 100 * i + 50, 0);
  kernel("g", 1000, 1100, 0);
  counted("f");
  counted("f");
  counted("h");
  const auto join = join_counters(trace, counters);
  EXPECT_EQ(join.row, (std::vector<Place>{0, 1, kNowhere, kNowhere}));
  EXPECT_EQ(join.only_counters, (std::vector<std::string>{"1 x h, grid (1000, 1, 1), block (128, 1, 1)"}));
  EXPECT_EQ(join.only_trace.size(), 2U) << "the third f, and g";
}

TEST_F(CounterJoinTest, waves_are_those_of_the_launch) {
  kernel("f", 100, 150, 0);
  kernel("g", 200, 250, 0);
  counted("f");
  EXPECT_TRUE(std::isnan(launch_waves(counters, join_counters(trace, counters))[0])) << "no such counter";
  counters.metrics.push_back({"launch__waves_per_multiprocessor", "", {1.5}});
  const auto waves = launch_waves(counters, join_counters(trace, counters));
  EXPECT_EQ(waves[0], 1.5);
  EXPECT_TRUE(std::isnan(waves[1]));
}

}  // namespace
}  // namespace ridgeline::trace
