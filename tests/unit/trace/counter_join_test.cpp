// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_join.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
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
  EXPECT_EQ(fakes::texts_of(join.only_counters),
            (std::vector<std::string>{"1 x h, grid (1000, 1, 1), block (128, 1, 1)"}));
  EXPECT_EQ(join.only_trace.size(), 2U) << "the third f, and g";
}

TEST_F(CounterJoinTest, rates_are_of_the_launches_that_have_bytes) {
  for (std::int64_t i = 0; i < 4; ++i) {
    module("Conv_0", 1000 * i, 1000 * i + 100);
    launch("f", 1000 * i + 10, 1000 * i + 200, 1000 * i + (i < 3 ? 300 : 900));
  }
  launch("g", 5010, 5200, 5300);
  for (int i = 0; i < 4; ++i) counted("f");
  const auto none = std::nan("");
  counters.metrics = {{"dram__bytes_read.sum", "byte", {100, none, -100, 100}},
                      {"dram__bytes_write.sum", "byte", {50, 50, 200, none}},
                      {"gpu__time_duration.sum", "ns", {100, 100, 100, 700}}};
  const auto join = join_counters(trace, counters);
  AnalysedTrace analysed(trace);
  analysed.kernel_bytes = dram_bytes(counters, join);
  const auto tables = tables_of(analysed);
  EXPECT_EQ(tables.kernels[0].bytes, 150);
  EXPECT_EQ(tables.kernels[0].rated_ns(), 100) << "of the one launch that has a value";
  EXPECT_EQ(tables.kernels[1].bytes, -1);
  EXPECT_EQ(tables.modules.front().bytes_ns, 100);
  EXPECT_EQ(fakes::texts_of(counter_notes(trace, counters, join, analysed.kernel_bytes)),
            std::vector<std::string>{"DRAM bytes are known for 1 of 5 launches, and bytes and GB/s are for these "
                                     "alone; for 3 others, the counters have no value, or an impossible one"});
}

TEST_F(CounterJoinTest, counters_without_bytes_say_what_to_record) {
  kernel("f", 100, 200, 0);
  counted("f");
  EXPECT_EQ(fakes::text_of(missing_bytes(counters)),
            "no DRAM bytes among its counters, so no bytes and no GB/s: ncu --metrics "
            "dram__bytes_read.sum,dram__bytes_write.sum records them");
  counters.metrics = {{"dram__bytes_read.sum", "byte", {100}}};
  EXPECT_EQ(fakes::text_of(missing_bytes(counters)),
            "no DRAM bytes written among its counters, so no bytes and no GB/s: record dram__bytes_write.sum with ncu "
            "too");
  const auto join = join_counters(trace, counters);
  EXPECT_TRUE(counter_notes(trace, counters, join, dram_bytes(counters, join)).empty()) << "that line says it";
  counters.metrics.push_back({"dram__bytes_write.sum", "sector", {8}});
  EXPECT_EQ(fakes::text_of(missing_bytes(counters)),
            "dram__bytes_write.sum is in \"sector\", not in bytes, so no bytes and no GB/s");
  EXPECT_TRUE(std::isnan(dram_bytes(counters, join)[0]));
  counters.metrics[1] = {"dram__bytes_write.sum", "byte", {0}};
  EXPECT_TRUE(missing_bytes(counters).empty());
  EXPECT_TRUE(counter_notes(trace, counters, join, dram_bytes(counters, join)).empty());
}

TEST_F(CounterJoinTest, times_that_are_of_other_work_are_named) {
  kernel("f", 0, 60'000, 0);
  counted("f");
  const auto join = join_counters(trace, counters);
  counters.metrics = {{"gpu__time_duration.sum", "ns", {6'000}}};
  const auto notes = fakes::texts_of(counter_notes(trace, counters, join, {5.0}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].find("the same launches take 6.00 µs in the counters and 60.0 µs in the trace"), 0U) << notes[0];
  counters.metrics[0].values[0] = 100'000;  // at a locked clock
  EXPECT_TRUE(counter_notes(trace, counters, join, {5.0}).empty());
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
