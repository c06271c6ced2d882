// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gaps.hpp"

#include <gtest/gtest.h>

#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

using schema::IdleCause;

class GapsTest : public ::testing::Test, public TraceBuilder {
 protected:
  /// A kernel until 10,000 and another from 50,000 on, launched at `called`.
  void two_kernels(std::int64_t called) {
    launch("first", 0, 2000, 10'000);
    launch("second", called, 50'000, 60'000);
  }
  [[nodiscard]] Gap gap() const {
    const auto gaps = find_gaps(trace, LaunchIndex(trace));
    EXPECT_EQ(gaps.size(), 1U);
    return gaps.empty() ? Gap() : gaps.front();
  }
};

TEST_F(GapsTest, a_late_launch) {
  two_kernels(45'000);
  EXPECT_EQ(gap().cause, IdleCause::launch);
  EXPECT_EQ(gap().start_ns, 10'000);
  EXPECT_EQ(gap().duration_ns(), 40'000);
}

TEST_F(GapsTest, work_that_was_queued) {
  two_kernels(5000);
  EXPECT_EQ(gap().cause, IdleCause::queue);
}

TEST_F(GapsTest, the_program_had_waited) {
  call("cudaStreamSynchronize", 3000, 11'000, 99);
  two_kernels(45'000);
  EXPECT_EQ(gap().cause, IdleCause::sync);
}

TEST_F(GapsTest, a_wait_of_another_thread_is_no_cause) {
  call("cudaStreamSynchronize", 3000, 11'000, 99, 2);
  two_kernels(45'000);
  EXPECT_EQ(gap().cause, IdleCause::launch);
}

TEST_F(GapsTest, what_takes_most_of_the_time_is_the_cause) {
  call("cudaStreamSynchronize", 3000, 11'000, 99);
  annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 12'000, 40'000);
  two_kernels(45'000);
  EXPECT_EQ(gap().cause, IdleCause::data_loading);
}

TEST_F(GapsTest, memory_and_code) {
  call("cudaMalloc", 12'000, 40'000, 98);
  two_kernels(45'000);
  EXPECT_EQ(gap().cause, IdleCause::allocation);
  trace.calls.name.front() = trace.strings.id("cuModuleLoadData");
  EXPECT_EQ(gap().cause, IdleCause::compilation);
  trace.calls.name.front() = trace.strings.id("cudaEventRecord");
  EXPECT_EQ(gap().cause, IdleCause::launch);
  range(RangeKind::overhead, "Activity Buffer Request", 12'000, 40'000);
  EXPECT_EQ(gap().cause, IdleCause::profiler);
}

TEST_F(GapsTest, a_launch_that_is_not_there) {
  launch("first", 0, 2000, 10'000);
  kernel("second", 50'000, 60'000, 77);
  EXPECT_EQ(gap().cause, IdleCause::unknown);
}

TEST_F(GapsTest, other_streams_fill_gaps) {
  two_kernels(45'000);
  kernel("beside", 9000, 30'000, 0, 8);
  copy("Memcpy HtoD", 30'000, 50'000, 1);
  EXPECT_TRUE(find_gaps(trace, LaunchIndex(trace)).empty());
}

TEST_F(GapsTest, the_outermost_that_held_the_thread_is_named) {
  operation("aten::item", 2900, 11'200);
  operation("aten::_local_scalar_dense", 2950, 11'100);
  const auto wait = call("cudaStreamSynchronize", 3000, 11'000, 99);
  two_kernels(45'000);
  EXPECT_EQ(gap().blocker.range, 0U) << "aten::item";
  EXPECT_EQ(gap().blocker.call, kNowhere);
  trace.ranges = {};
  EXPECT_EQ(gap().blocker.call, wait);
  trace.calls.name[wait] = trace.strings.id("cudaEventRecord");
  EXPECT_EQ(gap().blocker.call, kNowhere);
}

}  // namespace
}  // namespace ridgeline::trace
