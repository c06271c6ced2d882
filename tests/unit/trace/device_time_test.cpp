// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_time.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

class TraceTimesTest : public ::testing::Test {
 protected:
  void add(Spans& spans, std::int64_t start, std::int64_t end, const char* name, GpuLane lane) {
    spans.add(start, end - start, trace_.strings.id(name), trace_.gpu_lane(lane), 0);
  }
  Trace trace_;
};

TEST_F(TraceTimesTest, what_overlaps_counts_once) {
  add(trace_.kernels, 100, 200, "a", {1, 0, 1, 7});
  add(trace_.kernels, 150, 250, "b", {1, 0, 1, 8});
  add(trace_.kernels, 160, 170, "a", {1, 0, 1, 8});
  add(trace_.kernels, 400, 500, "a", {1, 0, 1, 7});
  add(trace_.copies, 240, 300, "copy", {1, 0, 1, 9});
  add(trace_.sets, 600, 610, "set", {1, 0, 1, 7});
  add(trace_.kernels, 0, 10, "a", {1, 2, 1, 7});
  const auto times = device_times(trace_);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].device, 0);
  EXPECT_EQ(times[0].span_ns, 510);
  EXPECT_EQ(times[0].kernel_ns, 250);
  EXPECT_EQ(times[0].copy_ns, 70);
  EXPECT_EQ(times[0].both_ns, 10);
  EXPECT_EQ(times[0].busy_ns, 310);
  EXPECT_EQ(times[0].idle_ns(), 200);
  EXPECT_EQ(times[1].device, 2);
  EXPECT_EQ(times[1].busy_ns, 10);
  EXPECT_EQ(times[1].idle_ns(), 0);
  EXPECT_TRUE(device_times(Trace()).empty());
}

}  // namespace
}  // namespace ridgeline::trace
