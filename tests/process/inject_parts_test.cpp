// SPDX-License-Identifier: Apache-2.0
// Parts of libridgeline_inject.so that need neither CUDA nor a process of their own.
#include <gtest/gtest.h>

#include "counting_plan.hpp"
#include "kernel_name.hpp"
#include "stream_overlap.hpp"
#include "window.hpp"

namespace ridgeline::inject {
namespace {

TEST(KernelNameTest, names_are_as_source_code_has_them) {
  EXPECT_EQ(plain_kernel_name("_Z4gemmPfi"), "gemm(float*, int)");
  EXPECT_EQ(plain_kernel_name("triton_poi_fused_0"), "triton_poi_fused_0");
}

TEST(KernelNameTest, collectives_are_known_mangled_and_plain) {
  for (const auto* name :
       {"_Z38ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "void ncclKernel<1>(int)",
        "_Z21rcclGenericKernelILi1EEvv", "nvshmemi_barrier_on_stream",
        "_ZN4vllm26cross_device_reduce_1stageI6__halfLi2EEEvP8RankData", "one_shot_all_reduce_kernel"})
    EXPECT_TRUE(is_collective(name)) << name;
  for (const auto* name : {"_Z4gemmPfi", "my_nccl", "", "_Z", "_ZN2at6native4ncclEv", "void gemm<float>(float*)"})
    EXPECT_FALSE(is_collective(name)) << name;
}

TEST(StreamOverlapTest, only_kernels_of_different_streams_of_one_device_overlap) {
  StreamOverlap overlap;
  overlap.add(0, 7, 100, 200);
  overlap.add(0, 7, 150, 250);
  overlap.add(1, 8, 150, 250);
  overlap.add(0, 8, 250, 300);
  EXPECT_FALSE(overlap.found());
  overlap.add(0, 7, 299, 400);
  EXPECT_TRUE(overlap.found());
}

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(WindowTest, a_delay_counts_from_the_start_of_the_program) {
  const auto options = Options::parse("delay_s=5;duration_s=2;start_ns=100000000000");
  Window window(options, 103 * kSecond);
  EXPECT_FALSE(window.is_open());
  EXPECT_FALSE(window.at_time(104 * kSecond));
  EXPECT_TRUE(window.at_time(105 * kSecond));
  EXPECT_TRUE(window.is_open());
  EXPECT_TRUE(window.at_time(107 * kSecond));
  EXPECT_TRUE(window.is_over());
}

TEST(WindowTest, the_duration_counts_from_the_first_call_behind_the_delay) {
  const auto options = Options::parse("delay_s=5;duration_s=2;start_ns=100000000000");
  Window late(options, 200 * kSecond);
  EXPECT_TRUE(late.is_open());
  EXPECT_FALSE(late.at_time(201 * kSecond));
  EXPECT_TRUE(late.at_time(202 * kSecond));
  Window without_start(Options::parse("delay_s=5"), 200 * kSecond);
  EXPECT_FALSE(without_start.is_open());
  EXPECT_TRUE(without_start.at_time(205 * kSecond));
}

TEST(CountingPlanTest, counting_begins_with_the_second_step_or_ends_with_the_warm_up) {
  for (const auto& [warmup, first] : {std::pair{0, 2}, {1, 2}, {2, 2}, {5, 2}, {6, 3}, {9, 6}}) {
    const CountingPlan plan(warmup);
    EXPECT_FALSE(plan.first(first - 1));
    EXPECT_TRUE(plan.precedes(first - 1));
    EXPECT_TRUE(plan.first(first));
    EXPECT_FALSE(plan.precedes(first));
    EXPECT_TRUE(plan.first(first + 1));  // where it could not be counted
    EXPECT_FALSE(plan.takes_recorded(warmup));
    EXPECT_TRUE(plan.takes_recorded(warmup + 1));
  }
}

TEST(CountingPlanTest, small_models_fill_the_caches_with_more_steps) {
  EXPECT_EQ(CountingPlan::steps_to_fill_caches(0), 3);
  EXPECT_EQ(CountingPlan::steps_to_fill_caches(500), 3);
  EXPECT_EQ(CountingPlan::steps_to_fill_caches(501), 1);
}

TEST(CountingPlanTest, graphs_are_counted_after_three_recorded_steps_or_all) {
  CountingPlan plan(0);
  EXPECT_FALSE(plan.second(5, true));
  plan.count_first();
  EXPECT_FALSE(plan.first(3));
  EXPECT_FALSE(plan.second(2, false));
  EXPECT_TRUE(plan.second(3, false));
  EXPECT_TRUE(plan.second(1, true));
  plan.end();
  EXPECT_FALSE(plan.second(3, true));
}

}  // namespace
}  // namespace ridgeline::inject
