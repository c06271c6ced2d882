// SPDX-License-Identifier: Apache-2.0
// libridgeline_inject.so in processes that use CUDA as far as it can tell (recorded_program.cpp).
#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "inject_fixture.hpp"

namespace ridgeline {
namespace {

using InjectTest = test::InjectFixture;

TEST_F(InjectTest, kernels_calls_and_ranges_are_recorded_and_the_program_is_as_without) {
  EXPECT_EQ(run("plain"), 3);
  EXPECT_EQ(base::read_file(folder_ / "output").value_or(""), "its own output\n");
  const auto trace = this->trace();
  EXPECT_TRUE(trace.notes.empty());
  ASSERT_EQ(trace.kernels.size(), 6U);
  EXPECT_EQ(trace.strings.text(trace.kernels.name[0]), "gemm(float*, int)");
  EXPECT_EQ(trace.kernels.duration_ns[0], 1'000);
  EXPECT_EQ(trace.gpu_lanes.at(trace.kernels.lane[0]).stream, 7);
  ASSERT_EQ(trace.calls.size(), 6U);
  EXPECT_EQ(trace.strings.text(trace.calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(trace.calls.correlation, trace.kernels.correlation);
  EXPECT_EQ(count(trace, "step"), 3U);
  EXPECT_EQ(count(trace, "forward"), 3U);
  // A launch lies within its range, on its thread, by one clock.
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) EXPECT_EQ(trace.ranges.lane[i], trace.calls.lane[0]);
  const auto first = std::min_element(trace.ranges.start_ns.begin(), trace.ranges.start_ns.end());
  EXPECT_LE(*first, trace.calls.start_ns[0]);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].name, "Fake GPU");
  EXPECT_EQ(trace.devices[0].memory_bytes_per_s, 4'800'000'000'000);
  auto facts = this->facts();
  EXPECT_EQ(facts["state"], "recording");
  EXPECT_EQ(facts["kernels"], "6");
  EXPECT_EQ(facts["finished"], "1");
  EXPECT_NE(facts["name"].find("plain"), std::string::npos);
}

TEST_F(InjectTest, cuda_12_is_recorded_with_its_own_cupti) {
  program_ = RL_TEST_RECORDED_PROGRAM_12;
  EXPECT_EQ(run("plain"), 3);
  const auto trace = this->trace();
  ASSERT_EQ(trace.kernels.size(), 6U);
  EXPECT_EQ(trace.strings.text(trace.kernels.name[5]), "gemm(float*, int)");
  EXPECT_EQ(trace.kernels.grid[5].x, 8);
  EXPECT_EQ(trace.calls.correlation, trace.kernels.correlation);
  EXPECT_LT(std::stoi(facts()["cupti"]), 100);
}

TEST_F(InjectTest, a_program_without_a_folder_is_left_alone) {
  EXPECT_EQ(run("plain", "", "RIDGELINE_TRACE_FOLDER="), 3);
  EXPECT_TRUE(files(".rltrace").empty());
}

TEST_F(InjectTest, a_folder_that_is_gone_does_not_stop_the_program) {
  EXPECT_EQ(run("plain", "", "RIDGELINE_TRACE_FOLDER=/nowhere/at/all"), 3);
}

TEST_F(InjectTest, steps_choose_what_is_recorded) {
  EXPECT_EQ(run("steps", "warmup_steps=3;steps=4"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(trace.kernels.size(), 8U);
  EXPECT_EQ(count(trace, "step"), 4U);
  EXPECT_EQ(count(trace, "ProfilerStep#3"), 0U);
  for (const auto* name : {"ProfilerStep#4", "ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"})
    EXPECT_EQ(count(trace, name), 1U) << name;
  EXPECT_EQ(count(trace, "ProfilerStep#8"), 0U);
}

TEST_F(InjectTest, steps_after_the_recorded_ones_show_what_recording_costs_and_are_not_kept) {
  EXPECT_EQ(run("steps 40", "warmup_steps=3;steps=4"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(trace.kernels.size(), 8U);
  EXPECT_EQ(trace.calls.size(), 8U);
  EXPECT_EQ(count(trace, "step"), 4U);
  EXPECT_EQ(count(trace, "ProfilerStep#7"), 1U);
  EXPECT_EQ(count(trace, "ProfilerStep#8"), 0U);
  auto facts = this->facts();
  EXPECT_EQ(facts["kernels"], "8");
  EXPECT_EQ(facts["recorded_steps"], "4");
  EXPECT_GE(std::stoll(facts["step_without_ns"]), 2'000'000);
  EXPECT_GE(std::stoll(facts["step_with_ns"]), 2'000'000);
}

TEST_F(InjectTest, too_few_steps_after_the_recorded_ones_do_not_show_it) {
  EXPECT_EQ(run("steps 20", "warmup_steps=3;steps=4"), 0);
  EXPECT_EQ(facts().count("step_with_ns"), 0U);
}

TEST_F(InjectTest, the_last_step_ends_with_its_last_range) {
  EXPECT_EQ(run("steps"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(count(trace, "ProfilerStep#10"), 1U);
  for (const auto duration : trace.ranges.duration_ns) EXPECT_LT(duration, 200'000'000);
}

TEST_F(InjectTest, a_range_chooses_what_is_recorded) {
  EXPECT_EQ(run("threads", "range=forward"), 0);
  EXPECT_EQ(count(trace(), "step"), 0U);
  EXPECT_EQ(count(trace(), "forward"), 1U);
  EXPECT_EQ(count(trace(), trace::kRecordingPaused), 0U);
  EXPECT_GE(trace().kernels.size(), 2U);
}

TEST_F(InjectTest, a_module_chooses_what_is_recorded) {
  EXPECT_EQ(run("module", "range=blocks.0"), 0);
  EXPECT_EQ(count(trace(), "nn.Module: blocks.0 (Block)"), 1U);
  EXPECT_EQ(count(trace(), "nn.Module: blocks.01 (Block)"), 0U);
  EXPECT_EQ(trace().kernels.size(), 1U);
}

TEST_F(InjectTest, a_module_within_a_backward_pass_keeps_that) {
  EXPECT_EQ(run("backward", "range=nn.Module: S_0"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(count(trace, "training"), 0U);
  ASSERT_EQ(count(trace, "(backward)"), 1U);
  ASSERT_EQ(count(trace, "nn.Module: S_0"), 1U);
  const auto pass = trace.strings.text(trace.ranges.name[0]) == "(backward)" ? 0U : 1U;
  EXPECT_LE(trace.ranges.start_ns[pass], trace.ranges.start_ns[1 - pass]) << "and is around it";
  EXPECT_GE(trace.ranges.start_ns[pass] + trace.ranges.duration_ns[pass],
            trace.ranges.start_ns[1 - pass] + trace.ranges.duration_ns[1 - pass]);
}

TEST_F(InjectTest, the_profilers_api_chooses_what_is_recorded) {
  EXPECT_EQ(run("profiler_api", "capture_range=cudaProfilerApi"), 0);
  EXPECT_EQ(count(trace(), "step"), 2U);
  EXPECT_EQ(trace().kernels.size(), 4U);
  EXPECT_EQ(facts()["profiler_api"], "1");
  EXPECT_EQ(count(trace(), trace::kRecordingPaused), 1U) << "between the two";
}

TEST_F(InjectTest, a_call_of_the_profilers_api_is_only_noted_where_nobody_asked_for_it) {
  EXPECT_EQ(run("profiler_api"), 0);
  EXPECT_EQ(count(trace(), "step"), 5U);
  EXPECT_EQ(facts()["profiler_api"], "1");
}

TEST_F(InjectTest, a_program_that_never_starts_the_profiler_records_nothing) {
  EXPECT_EQ(run("plain", "capture_range=cudaProfilerApi"), 3);
  EXPECT_EQ(trace().kernels.size(), 0U);
  EXPECT_EQ(facts()["state"], "waiting");
  EXPECT_EQ(facts()["profiler_api"], "0");
}

TEST_F(InjectTest, a_delay_that_does_not_end_records_nothing) {
  EXPECT_EQ(run("plain", "delay_s=60"), 3);
  EXPECT_EQ(trace().kernels.size(), 0U);
  EXPECT_EQ(facts()["state"], "waiting");
}

TEST_F(InjectTest, a_program_that_is_killed_leaves_what_was_written) {
  EXPECT_EQ(run("killed"), 128 + 9);
  const auto trace = this->trace();
  EXPECT_EQ(count(trace, "step"), 1U);
  EXPECT_EQ(facts().count("finished"), 0U);
}

TEST_F(InjectTest, a_program_that_aborts_ends_as_without) { EXPECT_EQ(run("aborts"), 128 + 6); }

TEST_F(InjectTest, a_child_has_a_trace_of_its_own) {
  EXPECT_EQ(run("forks"), 0);
  const auto all = files(".rltrace");
  ASSERT_EQ(all.size(), 2U);
  for (const auto& file : all) {
    const auto trace = trace::read_trace_file(file.string());
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->kernels.size(), 2U) << file;
    EXPECT_EQ(count(*trace, "forward"), 1U);
    EXPECT_EQ(std::to_string(trace->thread_lanes.at(0).process), file.stem().string());
  }
}

TEST_F(InjectTest, a_child_that_does_not_use_cuda_has_its_ranges) {
  EXPECT_EQ(run("forks_later"), 0);
  const auto all = files(".rltrace");
  ASSERT_EQ(all.size(), 2U);
  std::size_t of_child = 0;
  for (const auto& file : all) of_child += count(trace::read_trace_file(file.string()).value(), "of the child");
  EXPECT_EQ(of_child, 1U);
}

TEST_F(InjectTest, a_program_that_execs_another_keeps_what_was_recorded) {
  EXPECT_EQ(run("execs"), 3);
  std::multiset<std::size_t> steps;
  for (const auto& file : files(".rltrace")) steps.insert(count(trace::read_trace_file(file.string()).value(), "step"));
  EXPECT_EQ(steps, (std::multiset<std::size_t>{1, 3}));
}

TEST_F(InjectTest, threads_have_their_own_ranges) {
  EXPECT_EQ(run("threads"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(trace.thread_lanes.size(), 2U);
  EXPECT_EQ(trace.kernels.size(), 3U);
  EXPECT_EQ(count(trace, "other thread"), 1U);
}

TEST_F(InjectTest, domains_nest_by_themselves_and_registered_names_are_known) {
  EXPECT_EQ(run("domains"), 0);
  const auto trace = this->trace();
  EXPECT_EQ(count(trace, "outer"), 1U);
  EXPECT_EQ(count(trace, "registered"), 1U);
  EXPECT_EQ(count(trace, "begins and ends anywhere"), 1U);
}

TEST_F(InjectTest, a_graph_has_the_ranges_in_which_it_was_captured) {
  EXPECT_EQ(run("graph"), 0);
  const auto trace = this->trace();
  ASSERT_EQ(trace.kernels.size(), 1U);
  const auto found = std::find_if(trace.graph_nodes.begin(), trace.graph_nodes.end(),
                                  [&](const auto& node) { return node.node == trace.kernels.graph_node[0]; });
  ASSERT_NE(found, trace.graph_nodes.end());
  EXPECT_EQ(trace.strings.text(found->path), "1model\n1layer");
}

TEST_F(InjectTest, a_graph_of_a_session_has_the_time_and_the_thread_of_its_capture) {
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(run("session_graph"), 0);
  const auto after = std::chrono::steady_clock::now();
  const auto trace = this->trace();
  ASSERT_GE(trace.graph_nodes.size(), 1U);
  const auto path = std::string(trace.strings.text(trace.graph_nodes[0].path));
  ASSERT_TRUE(path.starts_with("2run of vit.onnx\nt")) << path;
  std::istringstream rest(path.substr(path.find('\n') + 2));
  std::int64_t at_ns = 0;
  std::int64_t thread = 0;
  rest >> at_ns >> thread;
  EXPECT_GE(at_ns, std::chrono::nanoseconds(before.time_since_epoch()).count());
  EXPECT_LE(at_ns, std::chrono::nanoseconds(after.time_since_epoch()).count());
  EXPECT_GT(thread, 0);
}

TEST_F(InjectTest, many_kernels_are_all_there) {
  EXPECT_EQ(run("many 1000000"), 0);
  EXPECT_EQ(facts()["kernels"], "1000000");
  EXPECT_EQ(trace().kernels.size(), 1'000'000U);
}

TEST_F(InjectTest, a_trace_that_is_large_enough_ends) {
  EXPECT_EQ(run("killed", "max_bytes=100"), 128 + 9);
  EXPECT_EQ(facts()["state"], "stopped_full");
  EXPECT_EQ(facts()["full_of_events"], "0");
}

TEST_F(InjectTest, a_trace_with_enough_events_ends) {
  EXPECT_EQ(run("killed", "max_events=1"), 128 + 9);
  EXPECT_EQ(facts()["state"], "stopped_full");
  EXPECT_EQ(facts()["full_of_events"], "1");
}

TEST_F(InjectTest, a_gpu_is_known_by_its_uuid) {
  EXPECT_EQ(run("plain", "", "FAKE_CUPTI_UUID=A"), 3);
  EXPECT_EQ(facts()["device"], "0 GPU-41000000-0000-0000-0000-000000000000");
}

TEST_F(InjectTest, what_could_not_be_recorded_is_counted) {
  EXPECT_EQ(run("without_times", "", "FAKE_CUPTI_DROPS=1"), 0);
  auto facts = this->facts();
  EXPECT_EQ(facts["zero_time"], "1");
  EXPECT_EQ(facts["dropped"], "5");
  EXPECT_EQ(facts["kernels"], "2");
}

TEST_F(InjectTest, another_profiler_is_named) {
  EXPECT_EQ(run("plain", "", "FAKE_CUPTI_BUSY=1"), 3);
  auto facts = this->facts();
  EXPECT_EQ(facts["state"], "busy");
  EXPECT_NE(facts["why"].find("another profiler records this process"), std::string::npos);
  EXPECT_EQ(count(trace(), "step"), 3U);
}

}  // namespace
}  // namespace ridgeline
