// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/lost_launches.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

class LostLaunchesTest : public ::testing::Test {
 protected:
  void call(std::int64_t start, const char* name, std::int64_t correlation, std::int64_t thread = 1) {
    trace_.calls.add(start, 1, trace_.strings.id(name), trace_.thread_lane({5, thread}), correlation);
  }
  void kernel(std::int64_t correlation) {
    auto& kernels = trace_.kernels;
    kernels.add(100, 10, trace_.strings.id("k"), trace_.gpu_lane({5, 0, 1, 7}), correlation);
    kernels.grid.emplace_back();
    kernels.block.emplace_back();
    kernels.registers.push_back(0);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(0);
  }
  [[nodiscard]] LostLaunches lost() const { return lost_launches(trace_, LaunchIndex(trace_)); }

  Trace trace_;
};

TEST_F(LostLaunchesTest, counts_launches_that_no_work_belongs_to) {
  call(1, "cudaLaunchKernel", 10);
  call(2, "cudaLaunchKernelExC_v11060", 11);
  call(3, "hipExtModuleLaunchKernel", 12);
  call(4, "cudaGraphLaunch", 13);
  call(5, "cudaMemcpyAsync", 14);
  call(6, "cudaLaunchHostFunc", 15);
  call(7, "cudaLaunchKernel", 0);  // nobody knows whose it is
  kernel(10);
  kernel(13);
  EXPECT_EQ(lost().lost, 2U);
  EXPECT_EQ(lost().all, 4U);
}

TEST_F(LostLaunchesTest, the_driver_within_the_runtime_is_one_launch) {
  call(1, "cudaLaunchKernel", 10);
  call(2, "cuLaunchKernel", 10);
  EXPECT_EQ(lost().lost, 1U);
  kernel(10);
  EXPECT_EQ(lost().lost, 0U);
  EXPECT_EQ(lost().all, 1U);
}

TEST_F(LostLaunchesTest, what_is_captured_into_a_graph_runs_nothing) {
  call(9, "cudaLaunchKernel", 12);
  call(1, "cudaStreamBeginCapture", 1);
  call(2, "cudaLaunchKernel", 10);
  call(3, "cudaLaunchKernel", 11, 2);  // a thread of the same process
  call(4, "cudaStreamEndCapture", 2);
  call(5, "cudaGraphLaunch", 13);
  kernel(13);
  EXPECT_EQ(lost().lost, 1U);
  EXPECT_EQ(lost().all, 2U);
}

TEST(LostLaunchesOfProcesses, each_numbers_its_own) {
  Trace trace;
  for (const std::int64_t process : {5, 6}) {
    for (int i = 1; i <= 3; ++i)
      trace.calls.add(i, 1, trace.strings.id("cudaLaunchKernel"), trace.thread_lane({process, 1}), i);
    trace.kernels.add(100, 10, trace.strings.id("k"), trace.gpu_lane({0, static_cast<std::int32_t>(process), 1, 7}), 1);
  }
  trace.calls.add(9, 1, trace.strings.id("cudaLaunchKernel"), trace.thread_lane({6, 1}), 40);  // only one has that
  const auto lost = lost_launches(trace, LaunchIndex(trace));
  EXPECT_EQ(lost.lost, 1U);
  EXPECT_EQ(lost.all, 1U);
  EXPECT_EQ(lost.ambiguous, 6U);
}

}  // namespace
}  // namespace ridgeline::trace
