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
    const auto gaps = find_gaps(trace, LaunchIndex(trace), nest(trace), {}, {});
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

TEST_F(GapsTest, work_that_waited_long_after_its_launch_was_queued_too) {
  launch("first", 0, 2000, 10'000);
  launch("second", 15'000, 63'000'000, 64'000'000);
  EXPECT_EQ(gap().cause, IdleCause::queue);
}

TEST_F(GapsTest, a_launch_whose_work_is_not_in_the_file_may_have_filled_it) {
  two_kernels(5000);
  call("cudaLaunchKernel", 3000, 4000, 99);
  EXPECT_EQ(gap().cause, IdleCause::unknown);
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
  EXPECT_TRUE(find_gaps(trace, LaunchIndex(trace), nest(trace), {}, {}).empty());
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

/// A launch takes microseconds, not milliseconds: a thread that launches nothing for so long does something else.
class HostWorkTest : public GapsTest {
 protected:
  static constexpr std::int64_t kMs = 1'000'000;
  /// A kernel until 1 ms and another that is launched at 52 ms.
  void kernels_around_work() {
    launch("first", 0, 10'000, kMs);
    launch("second", 52 * kMs, 52 * kMs + 10'000, 53 * kMs);
  }
};

TEST_F(HostWorkTest, the_function_that_filled_the_gap_is_named) {
  range(RangeKind::python, "train.py(10): step", -kMs, 60 * kMs);
  const auto work = range(RangeKind::python, "augment.py(5): augment_batch", 500'000, 51 * kMs);
  range(RangeKind::python, "augment.py(9): flip", kMs, 20 * kMs);
  range(RangeKind::python, "augment.py(14): crop", 20 * kMs, 50 * kMs);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_work);
  EXPECT_EQ(gap().blocker.range, work) << "its parts each fill less of it";
}

TEST_F(HostWorkTest, what_no_event_shows_is_neither_a_launch_nor_work) {
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_unrecorded);
  EXPECT_EQ(gap().blocker.range, kNowhere);
  EXPECT_EQ(gap().blocker.call, kNowhere);
}

TEST_F(HostWorkTest, launches_whose_kernels_are_not_in_the_trace_are_no_work_of_the_host) {
  call("cudaLaunchKernel", 20 * kMs, 20 * kMs + 5000, 777);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::unknown);
}

TEST_F(HostWorkTest, behind_a_wait_the_work_is_the_cause) {
  call("cudaStreamSynchronize", 100'000, kMs + 5000, 99);
  const auto work = range(RangeKind::python, "augment.py(5): augment_batch", kMs + 10'000, 51 * kMs);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_work);
  EXPECT_EQ(gap().blocker.range, work);
}

TEST_F(HostWorkTest, what_fills_the_time_behind_a_wait_is_the_cause_if_that_is_most_of_it) {
  operation("aten::item", 100'000, kMs + 200'000);
  const auto log = range(RangeKind::python, "train.py(9): log", kMs + 200'000, kMs + 550'000);
  launch("k", 0, 10'000, kMs);
  launch("k", kMs + 560'000, kMs + 570'000, 2 * kMs);
  EXPECT_EQ(gap().cause, IdleCause::host_work);
  EXPECT_EQ(gap().blocker.range, log) << "which the middle of the gap and 80 % of it are not in";
  trace.ranges.start_ns[log] += 300'000;
  trace.ranges.duration_ns[log] = 50'000;
  EXPECT_EQ(gap().cause, IdleCause::sync) << "of the time behind the wait, most is on the way to the launch";
}

TEST_F(HostWorkTest, of_several_functions_that_fill_it_the_longest_is_named_with_its_own_time) {
  range(RangeKind::python, "train.py(31): write_csv", 2 * kMs, 22 * kMs);
  const auto plot = range(RangeKind::python, "train.py(40): plot", 22 * kMs, 47 * kMs);
  range(RangeKind::python, "plot.py(3): axes", 22 * kMs, 46 * kMs);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_work);
  EXPECT_EQ(gap().blocker.range, plot);
  EXPECT_EQ(gap().blocker.ns, 25 * kMs);
  trace.ranges.duration_ns[plot] = kMs;
  trace.ranges.duration_ns[plot + 1] = kMs;
  EXPECT_EQ(gap().cause, IdleCause::host_unrecorded) << "most of it nobody knows";
}

TEST_F(HostWorkTest, the_parts_of_a_function_that_launches_too_say_more_than_its_name) {
  range(RangeKind::python, "train.py(90): main", -kMs, 60 * kMs);
  const auto log = range(RangeKind::python, "train.py(31): log", 2 * kMs, 40 * kMs);
  kernels_around_work();
  EXPECT_EQ(gap().blocker.range, log);
}

TEST_F(HostWorkTest, a_wait_for_another_thread_is_no_work) {
  const auto get = range(RangeKind::python, "queue.py(154): get", 2 * kMs, 51 * kMs);
  range(RangeKind::python, "threading.py(323): wait", 2 * kMs, 50 * kMs);
  range(RangeKind::python, "prefetch.py(12): load", 2 * kMs, 50 * kMs, 2);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_wait);
  EXPECT_EQ(gap().blocker.range, get);
}

TEST_F(HostWorkTest, what_the_profiler_did_in_a_process_of_its_own_held_all_threads) {
  auto& ranges = trace.ranges;
  ranges.add(2 * kMs, 49 * kMs, trace.strings.id("Activity Buffer Request"), trace.thread_lane({-1, 0}), 0);
  ranges.kind.push_back(RangeKind::overhead);
  ranges.sequence.push_back(-1);
  ranges.forward_thread.push_back(0);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::profiler);
}

TEST_F(HostWorkTest, a_copy_of_pageable_memory_is_none) {
  launch("first", 0, 10'000, kMs);
  call("cudaMemcpyAsync", kMs + 5000, 50 * kMs, 77);
  trace.copies.add(50 * kMs, 1000, trace.strings.id("Memcpy HtoD (Pageable -> Device)"), trace.gpu_lane({1, 0, 1, 7}),
                   77);
  trace.copies.bytes.push_back(1 << 20);
  EXPECT_EQ(gap().cause, IdleCause::pageable_copy);
}

TEST_F(HostWorkTest, a_wait_long_before_the_launch_is_not_its_cause) {
  operation("aten::item", 100'000, kMs + 20'000);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::host_unrecorded);
}

TEST_F(HostWorkTest, of_the_thread_that_launched_before) {
  launch("first", 0, 10'000, kMs);
  const auto work = range(RangeKind::python, "loss.py(3): host_loss", 500'000, 51 * kMs);
  launch("backward", 52 * kMs, 52 * kMs + 10'000, 53 * kMs, 2);
  EXPECT_EQ(gap().cause, IdleCause::host_work);
  EXPECT_EQ(gap().blocker.range, work) << "autograd's thread slept";
}

TEST_F(HostWorkTest, an_operation_on_the_way_to_its_own_launch_is_none) {
  operation("aten::conv2d", kMs, 53 * kMs);
  kernels_around_work();
  EXPECT_EQ(gap().cause, IdleCause::compilation) << "the first launch of a kernel: its library and code are loaded";
  EXPECT_NE(gap().blocker.call, kNowhere) << "so that it has a name";
  trace.kernels.name.back() = trace.kernels.name.front();
  EXPECT_EQ(gap().cause, IdleCause::launch);
  trace.ranges.kind.front() = RangeKind::python;
  EXPECT_EQ(gap().cause, IdleCause::host_work) << "a function of the user's may compute first";
}

TEST_F(HostWorkTest, short_work_is_judged_by_what_a_launch_takes) {
  for (std::int64_t i = 0; i < 20; ++i) launch("k", 5000 * i, 5000 * i + 2000, 5000 * i + 7000);
  launch("late", 300'000, 302'000, 310'000);
  EXPECT_EQ(gap().cause, IdleCause::launch) << "198 us without a name";
  range(RangeKind::python, "serve.py(8): schedule", 105'000, 299'000);
  EXPECT_EQ(gap().cause, IdleCause::host_work) << "40 launches long";
}

TEST_F(HostWorkTest, a_first_launch_that_takes_long_loads_its_code) {
  launch("first", 0, 10'000, kMs);
  const auto slow = call("cudaLaunchKernel", 500'000, 64 * kMs, 77);
  kernel("second", 64 * kMs, 65 * kMs, 77);
  EXPECT_EQ(gap().cause, IdleCause::compilation) << "though it was called before the gap";
  EXPECT_EQ(gap().blocker.call, slow);
  trace.kernels.name.back() = trace.kernels.name.front();
  EXPECT_EQ(gap().cause, IdleCause::host_work) << "its code was there";
  range(RangeKind::overhead, "Runtime Triggered Module Loading", 600'000, 63 * kMs);
  EXPECT_EQ(gap().cause, IdleCause::compilation) << "it was loaded again";
}

}  // namespace
}  // namespace ridgeline::trace
