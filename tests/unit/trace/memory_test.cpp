// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/memory.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class MemoryTest : public ::testing::Test, public TraceBuilder {
 protected:
  [[nodiscard]] std::vector<schema::ProfileMemory> rows() const { return memory_rows(AnalysedTrace(trace)); }
};

std::string held_by(const schema::ProfileMemory& row) {
  std::string out;
  for (const auto& one : row.holders)
    out += one.place + " " + std::to_string(one.bytes) + " in " + std::to_string(one.allocations) + "|";
  return out;
}

TEST_F(MemoryTest, the_peak_is_held_by_modules_in_which_it_was_allocated) {
  module("Net_0", 0, 1000);
  for (int i = 0; i < 3; ++i) {
    const auto begin = 100 + 100 * i;
    module("Linear_" + std::to_string(i), begin, begin + 90);
    operation("aten::linear", begin + 10, begin + 80);
    operation("aten::empty", begin + 20, begin + 30);
    allocation(begin + 20, 1000, begin);
    allocation(begin + 50, 70, begin + 1);
    allocation(begin + 60, -70, begin + 1);
  }
  operation("aten::zeros", 500, 600, 2);
  allocation(550, 400, 5, 2);
  allocation(700, 10, 6, 3);
  allocation(800, -1000, 100);
  allocation(900, -10, 6, 3);
  const auto all = rows();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].process, 1);
  EXPECT_EQ(all[0].peak_allocated_bytes, 3410);
  EXPECT_EQ(all[0].peak_ns, 580);
  EXPECT_EQ(all[0].end_bytes, 2400);
  EXPECT_EQ(all[0].allocations, 8);
  EXPECT_EQ(all[0].frees, 5);
  EXPECT_EQ(all[0].unused_bytes(), 1000);
  EXPECT_EQ(held_by(all[0]), "Net_#/Linear_#/aten::linear 3000 in 3|aten::zeros 400 in 1|(unknown place) 10 in 1|");
}

TEST_F(MemoryTest, what_was_there_before_is_told_apart) {
  trace.allocations.add({10, 500, 1, 5500, 9000, 0, trace.thread_lane({1, 1}), 0, AllocationKind::allocated});
  trace.allocations.add({20, -5000, 99, 500, 9000, 0, trace.thread_lane({1, 1}), 0, AllocationKind::freed});
  // Of another process on the same GPU, and of the host.
  trace.allocations.add({5, 7, 1, 7, 8, 0, trace.thread_lane({2, 1}), 0, AllocationKind::allocated});
  trace.allocations.add({5, 7, 1, 7, 0, -1, trace.thread_lane({1, 1}), 0, AllocationKind::allocated});
  const auto all = rows();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(held_by(all[0]), "(before the recording) 5000 in 0|(unknown place) 500 in 1|");
  EXPECT_EQ(all[0].peak_ns, 5);
  EXPECT_EQ(all[1].process, 2);
  EXPECT_EQ(all[1].peak_allocated_bytes, 7);
}

TEST_F(MemoryTest, places_of_the_file_come_first_and_ten_are_kept) {
  operation("aten::empty", 0, 1000);
  for (int i = 0; i < 12; ++i)
    allocation(10 + i, 100 - i, 100 + i, 1, std::string(static_cast<std::size_t>(i + 1), 'a') + ".py(7): f");
  const auto all = rows();
  ASSERT_EQ(all[0].holders.size(), 10U);
  EXPECT_EQ(all[0].holders[0].place, "a.py(7): f");
  EXPECT_EQ(all[0].holders[9].bytes, 91);
}

TEST_F(MemoryTest, the_series_keeps_every_maximum_in_few_points) {
  for (int i = 0; i < 100'000; ++i) {
    const bool high = i == 77'777;
    allocation(2 * i, high ? 1'000'000 : 100, 1);
    allocation(2 * i + 1, high ? -1'000'000 : -100, 1);
  }
  const auto all = rows();
  const auto& series = all[0].series;
  EXPECT_LE(series.size(), 500U);
  EXPECT_GE(series.size(), 400U);
  const auto most = std::max_element(series.begin(), series.end(), [](const auto& one, const auto& other) {
    return one.allocated_bytes < other.allocated_bytes;
  });
  EXPECT_EQ(most->allocated_bytes, all[0].peak_allocated_bytes);
  EXPECT_EQ(most->time_ns, all[0].peak_ns);
  EXPECT_TRUE(std::is_sorted(series.begin(), series.end(),
                             [](const auto& one, const auto& other) { return one.time_ns < other.time_ns; }));
}

TEST_F(MemoryTest, events_of_several_threads_are_put_in_order) {
  trace.allocations.add({20, -5, 1, 0, 9, 0, trace.thread_lane({1, 2}), 0, AllocationKind::freed});
  trace.allocations.add({10, 5, 1, 5, 9, 0, trace.thread_lane({1, 1}), 0, AllocationKind::allocated});
  const auto all = rows();
  EXPECT_EQ(all[0].end_bytes, 0);
  EXPECT_EQ(held_by(all[0]), "(unknown place) 5 in 1|");
}

TEST_F(MemoryTest, without_events_there_is_nothing) { EXPECT_TRUE(rows().empty()); }

}  // namespace
}  // namespace ridgeline::trace
