// SPDX-License-Identifier: Apache-2.0
// Bytes that libridgeline_inject.so counts, with the CUPTI of both CUDA releases (fakes/fake_range_profiler.cpp).
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inject_fixture.hpp"

namespace ridgeline {
namespace {

class InjectCountersTest : public test::InjectFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  InjectCountersTest() { program_ = GetParam(); }

  /// Names of the launches that were counted, in their order.
  static std::vector<std::string> counted(const trace::Trace& trace) {
    std::vector<std::string> out;
    for (const auto name : trace.counted.name) out.emplace_back(trace.strings.text(name));
    return out;
  }
  static std::vector<std::string> paths(const trace::Trace& trace) {
    std::vector<std::string> out;
    for (const auto path : trace.counted.path) out.emplace_back(trace.strings.text(path));
    return out;
  }
  /// The program fails in no way, its state is that, and all steps but `left_out` are recorded.
  void expect_state(const std::string& state, std::size_t recorded_steps) const {
    auto facts = this->facts();
    EXPECT_EQ(facts["counters"], state) << facts["counters_why"];
    EXPECT_EQ(facts["state"], "recording");
    const auto trace = this->trace();
    std::size_t steps = 0;
    for (int i = 1; i <= 14; ++i) steps += count(trace, "ProfilerStep#" + std::to_string(i));
    EXPECT_EQ(steps, recorded_steps);
    EXPECT_GE(trace.kernels.size(), 2 * recorded_steps);
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, InjectCountersTest,
                         ::testing::Values(RL_TEST_RECORDED_PROGRAM_12, RL_TEST_RECORDED_PROGRAM),
                         [](const auto& one) { return one.index == 0 ? "12" : "13"; });

const std::vector<std::string> kOneStep{"gemm(float*, int)", "layernorm(float*)"};

TEST_P(InjectCountersTest, nothing_is_counted_unless_asked) {
  EXPECT_EQ(run("counted"), 0);
  expect_state("none", 14);
  EXPECT_TRUE(trace().counted.name.empty());
}

TEST_P(InjectCountersTest, the_last_of_four_steps_is_counted_and_the_others_fill_the_caches) {
  EXPECT_EQ(run("counted", "counters=window"), 0);
  expect_state("counted", 10);
  const auto trace = this->trace();
  for (const auto* name : {"ProfilerStep#2", "ProfilerStep#5"}) EXPECT_EQ(count(trace, name), 0U);
  EXPECT_EQ(count(trace, "model"), 10U);
  EXPECT_EQ(trace.kernels.size(), 20U);
  EXPECT_EQ(counted(trace), kOneStep);
  EXPECT_EQ(paths(trace), (std::vector<std::string>{"1model\n1linear", "1model\n1norm"}));
  const auto& table = trace.counted;
  EXPECT_EQ(table.step, (std::vector<std::int64_t>{5, 5}));
  EXPECT_EQ(table.dram_read_bytes, (std::vector<std::int64_t>{1'000, 1'400}));  // by the lengths of mangled names
  EXPECT_EQ(table.dram_write_bytes, (std::vector<std::int64_t>{7, 7}));
  EXPECT_EQ(table.l2_bytes, (std::vector<std::int64_t>{1'006, 1'007}));
  EXPECT_EQ(table.duration_ns, (std::vector<std::int64_t>{2'500, 2'500}));
  EXPECT_EQ(table.tensor_permille, (std::vector<std::int32_t>{125, 125}));
  EXPECT_EQ(table.graph_nodes, (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(table.grid[0], (trace::Dim3{8, 1, 1}));
  EXPECT_EQ(table.block[0], (trace::Dim3{128, 1, 1}));
  EXPECT_EQ(trace.gpu_lanes.at(table.lane[0]), trace.gpu_lanes.at(trace.kernels.lane[0]));
  EXPECT_EQ(trace.counted.name[0], trace.kernels.name[0]);
  EXPECT_EQ(facts()["counters_launches"], "2");
  const auto pause = std::find(trace.ranges.kind.begin(), trace.ranges.kind.end(), trace::RangeKind::overhead);
  ASSERT_NE(pause, trace.ranges.kind.end());
  const auto i = static_cast<std::size_t>(pause - trace.ranges.kind.begin());
  EXPECT_EQ(trace.strings.text(trace.ranges.name[i]), trace::kRecordingPaused);
  EXPECT_EQ(trace.thread_lanes.at(trace.ranges.lane[i]).process, trace.gpu_lanes.at(table.lane[0]).process);
  EXPECT_LE(trace.ranges.start_ns[i], table.start_ns[0]);
  EXPECT_GE(trace.ranges.start_ns[i] + trace.ranges.duration_ns[i], table.start_ns[1]);
}

TEST_P(InjectCountersTest, the_last_step_of_the_warm_up_is_counted) {
  EXPECT_EQ(run("counted", "counters=window;warmup_steps=5;steps=2"), 0);
  expect_state("counted", 2);
  const auto trace = this->trace();
  EXPECT_EQ(trace.counted.step, (std::vector<std::int64_t>{5, 5}));
  EXPECT_EQ(count(trace, "ProfilerStep#6"), 1U);
  EXPECT_EQ(count(trace, "ProfilerStep#7"), 1U);
  EXPECT_EQ(trace.kernels.size(), 4U);
  EXPECT_EQ(std::count(trace.ranges.kind.begin(), trace.ranges.kind.end(), trace::RangeKind::overhead), 0);
}

TEST_P(InjectCountersTest, a_counted_step_does_not_take_the_place_of_a_recorded_one) {
  EXPECT_EQ(run("counted", "counters=window;warmup_steps=1;steps=3"), 0);
  expect_state("counted", 3);
  const auto trace = this->trace();
  EXPECT_EQ(trace.counted.step, (std::vector<std::int64_t>{5, 5}));
  for (const auto* name : {"ProfilerStep#6", "ProfilerStep#7", "ProfilerStep#8"}) EXPECT_EQ(count(trace, name), 1U);
}

TEST_P(InjectCountersTest, a_backward_pass_on_another_thread_is_in_order_with_its_own_path) {
  EXPECT_EQ(run("counted_backward", "counters=window"), 0);
  expect_state("counted", 10);
  const auto trace = this->trace();
  EXPECT_EQ(counted(trace), (std::vector<std::string>{kOneStep[0], kOneStep[0], kOneStep[1]}));
  EXPECT_EQ(paths(trace)[1], "1backward");
  EXPECT_EQ(trace.counted.dram_write_bytes, (std::vector<std::int64_t>{7, 9, 7}));
  EXPECT_EQ(trace.gpu_lanes.at(trace.counted.lane[1]).stream, 9);
}

TEST_P(InjectCountersTest, launches_of_two_threads_at_once_are_left_out) {
  EXPECT_EQ(run("counted_at_once", "counters=window"), 0);
  expect_state("counted", 10);
  EXPECT_EQ(counted(trace()), kOneStep);
  EXPECT_EQ(trace().counted.l2_bytes, (std::vector<std::int64_t>{1'006, 1'009}));
  EXPECT_EQ(facts()["counters_left_out"], "2");
}

TEST_P(InjectCountersTest, a_launch_that_fails_is_no_range) {
  EXPECT_EQ(run("counted_failing", "counters=window"), 0);
  expect_state("counted", 10);
  EXPECT_EQ(counted(trace()), kOneStep);
}

TEST_P(InjectCountersTest, a_number_of_ranges_that_differs_is_never_guessed_at) {
  EXPECT_EQ(run("counted_unseen", "counters=window"), 0);
  expect_state("failed", 10);
  EXPECT_TRUE(trace().counted.name.empty());
  EXPECT_EQ(facts()["counters_why"], "CUPTI counted 9 ranges and dropped 0, of 8 launches");
  EXPECT_EQ(facts()["counters_left_out"], "8");
}

TEST_P(InjectCountersTest, lost_ranges_are_never_guessed_at) {
  for (const auto* how : {"missing_range", "dropped_range"}) {
    EXPECT_EQ(run("counted", "counters=window", std::string("FAKE_CUPTI_COUNTERS=") + how), 0);
    expect_state("failed", 10);
    EXPECT_TRUE(trace().counted.name.empty());
    clear();
  }
}

TEST_P(InjectCountersTest, launches_while_counting_ends_make_it_invalid) {
  EXPECT_EQ(run("counted", "counters=window", "FAKE_CUPTI_COUNTERS=other_thread"), 0);
  expect_state("failed", 10);
  EXPECT_EQ(facts()["counters_why"], "another thread launched kernels as counting began or ended");
}

TEST_P(InjectCountersTest, what_stops_counting_does_not_stop_recording) {
  const std::vector<std::pair<std::string, std::string>> states{{"no_privilege", "no_privilege"},
                                                                {"busy", "busy"},
                                                                {"unsupported", "unsupported"},
                                                                {"many_passes", "unsupported"},
                                                                {"no_memory", "failed"}};
  for (const auto& [how, state] : states) {
    EXPECT_EQ(run("counted", "counters=window", "FAKE_CUPTI_COUNTERS=" + how), 0);
    expect_state(state, 14);
    EXPECT_FALSE(facts()["counters_why"].empty());
    EXPECT_TRUE(trace().counted.name.empty());
    clear();
  }
}

TEST_P(InjectCountersTest, counters_that_do_not_fit_one_pass_are_left_out) {
  EXPECT_EQ(run("counted", "counters=window", "FAKE_CUPTI_COUNTERS=one_counter_less"), 0);
  expect_state("counted", 10);
  EXPECT_EQ(trace().counted.duration_ns, (std::vector<std::int64_t>{2'500, 2'500}));
  EXPECT_EQ(trace().counted.tensor_permille, (std::vector<std::int32_t>{-1, -1}));
}

TEST_P(InjectCountersTest, chips_with_other_names_are_counted) {
  EXPECT_EQ(run("counted", "counters=window", "FAKE_CUPTI_COUNTERS=other_names"), 0);
  expect_state("counted", 10);
  EXPECT_EQ(trace().counted.dram_read_bytes, (std::vector<std::int64_t>{1'000, 1'400}));
}

TEST_P(InjectCountersTest, a_capture_ends_the_counted_step) {
  for (const auto* how : {"counted_capture", "counted_capture_unannounced"}) {
    EXPECT_EQ(run(how, "counters=window"), 0);
    expect_state("counted", 10);
    EXPECT_EQ(counted(trace()), std::vector<std::string>{kOneStep[0]});
    EXPECT_FALSE(facts()["counters_why"].empty());
    clear();
  }
}

TEST_P(InjectCountersTest, steps_with_captures_are_followed_by_others) {
  EXPECT_EQ(run("counted_capture_early", "counters=window"), 0);
  expect_state("counted", 9);
  EXPECT_EQ(counted(trace()), kOneStep);
  EXPECT_EQ(trace().counted.step, (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(facts()["counters_why"], "");
}

TEST_P(InjectCountersTest, a_collective_is_never_run_alone) {
  EXPECT_EQ(run("counted_collective", "counters=window"), 0);
  expect_state("counted", 10);
  EXPECT_EQ(counted(trace()), std::vector<std::string>{kOneStep[0]});
  EXPECT_EQ(facts()["counters_why"],
            "counting ended before ncclDevKernel_AllReduce_Sum_f32_(), which may wait for another GPU");
}

TEST_P(InjectCountersTest, programs_with_collectives_are_not_counted) {
  EXPECT_EQ(run("recorded_collective", "counters=window"), 0);
  expect_state("collectives", 14);
}

TEST_P(InjectCountersTest, programs_of_several_processes_are_not_counted) {
  for (const auto* size : {"WORLD_SIZE=2", "PMI_SIZE=4", "SLURM_STEP_NUM_TASKS=2"}) {
    EXPECT_EQ(run("counted", "counters=window", size), 0);
    expect_state("collectives", 14);
    clear();
  }
  EXPECT_EQ(run("counted", "counters=window", "WORLD_SIZE=1"), 0);
  expect_state("counted", 10);
}

TEST_P(InjectCountersTest, programs_whose_streams_overlap_are_counted_only_if_forced) {
  EXPECT_EQ(run("recorded_overlap", "counters=window"), 0);
  expect_state("concurrent", 14);
  clear();
  EXPECT_EQ(run("recorded_overlap", "counters=window;counters_force=1"), 0);
  expect_state("counted", 10);
}

TEST_P(InjectCountersTest, graphs_that_come_later_are_counted_in_a_step_of_their_own) {
  EXPECT_EQ(run("counted_graphs", "counters=window"), 0);
  expect_state("counted", 6);
  const auto trace = this->trace();
  EXPECT_EQ(counted(trace),
            (std::vector<std::string>{kOneStep[0], kOneStep[1], kOneStep[0], "cudaGraphLaunch", kOneStep[1]}));
  EXPECT_EQ(trace.counted.step, (std::vector<std::int64_t>{5, 5, 11, 11, 11}));
  EXPECT_EQ(trace.counted.graph_nodes, (std::vector<std::int32_t>{0, 0, 0, 1, 0}));
  EXPECT_EQ(trace.counted.grid[3], trace::Dim3{});
  for (const auto* name : {"ProfilerStep#8", "ProfilerStep#11"}) EXPECT_EQ(count(trace, name), 0U);
}

TEST_P(InjectCountersTest, a_window_has_room_for_so_many_launches) {
  EXPECT_EQ(run("counted_many", "counters=window"), 0);
  expect_state("too_many", 10);
  EXPECT_EQ(trace().counted.size(), 19'994U);
  EXPECT_EQ(facts()["counters_why"], "only the first 20000 launches were counted");
}

TEST_P(InjectCountersTest, counting_goes_on_in_smaller_parts_where_memory_is_short) {
  EXPECT_EQ(run("counted_many", "counters=window", "FAKE_CUPTI_COUNTERS=little_memory"), 0);
  expect_state("too_many", 10);
  EXPECT_EQ(trace().counted.size(), 19'994U);
}

TEST_P(InjectCountersTest, a_program_without_steps_has_no_window) {
  EXPECT_EQ(run("plain", "counters=window"), 3);
  EXPECT_EQ(facts()["counters"], "no_steps");
  EXPECT_EQ(trace().kernels.size(), 6U);
}

TEST_P(InjectCountersTest, a_rerun_counts_every_launch_and_records_nothing) {
  EXPECT_EQ(run("plain", "counters=rerun"), 3);
  const auto trace = this->trace();
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_EQ(trace.ranges.size(), 0U);
  EXPECT_EQ(counted(trace), std::vector<std::string>(6, kOneStep[0]));
  EXPECT_EQ(paths(trace), std::vector<std::string>(6, "1step\n1forward"));
  EXPECT_EQ(facts()["counters"], "counted");
  EXPECT_EQ(facts()["counters_launches"], "6");
}

TEST_P(InjectCountersTest, a_rerun_counts_more_than_one_window_holds) {
  EXPECT_EQ(run("counted_many", "counters=rerun"), 0);
  EXPECT_EQ(facts()["counters"], "counted");
  EXPECT_EQ(trace().counted.size(), 20'033U);
}

TEST_P(InjectCountersTest, a_rerun_counts_what_the_options_choose) {
  EXPECT_EQ(run("counted", "counters=rerun;warmup_steps=3;steps=2"), 0);
  EXPECT_EQ(trace().counted.step, (std::vector<std::int64_t>{4, 4, 5, 5}));
}

TEST_P(InjectCountersTest, a_rerun_goes_on_after_a_capture) {
  for (const auto* how : {"counted_capture", "counted_capture_unannounced"}) {
    EXPECT_EQ(run(how, "counters=rerun"), 0);
    EXPECT_EQ(facts()["counters"], "counted");
    EXPECT_EQ(trace().counted.size(), 28U);
    clear();
  }
}

TEST_P(InjectCountersTest, a_thread_without_a_context_is_waited_for) {
  EXPECT_EQ(run("counted", "counters=window", "FAKE_CUDA_WITHOUT_CONTEXT=1"), 0);
  expect_state("failed", 14);
}

}  // namespace
}  // namespace ridgeline
