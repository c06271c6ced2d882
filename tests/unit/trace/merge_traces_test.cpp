// SPDX-License-Identifier: Apache-2.0
#include "trace/record/merge_traces.hpp"

#include "trace/analysis/analysed_trace.hpp"
#include "trace/messages.hpp"
#include "trace_builder.hpp"

namespace ridgeline::trace {
namespace {

/// Of a process that launches a kernel within a module; every process counts its launches from 1.
Trace process(std::int64_t pid, std::string_view module, std::string_view kernel, std::int64_t start) {
  TraceBuilder builder;
  builder.module(module, start, start + 100'000);
  builder.launch(kernel, start + 1000, start + 20'000, start + 50'000);
  auto trace = std::move(builder.trace);
  for (auto& lane : trace.thread_lanes) lane.process = pid;
  for (auto& lane : trace.gpu_lanes) lane.process = pid;
  trace.devices.push_back({0, "NVIDIA Test", 64, "9.0", 0});
  return trace;
}

std::vector<Trace> two_processes() {
  std::vector<Trace> out;
  out.push_back(process(41, "First_0", "gemm", 0));
  out.push_back(process(42, "Second_0", "relu", 10'000));
  return out;
}

TEST(MergeTraces, keeps_lanes_and_joins_launches_within_their_process) {
  const auto merged = merge_traces(two_processes());
  ASSERT_EQ(merged.kernels.size(), 2U);
  ASSERT_EQ(merged.thread_lanes.size(), 2U);
  ASSERT_EQ(merged.gpu_lanes.size(), 2U);
  EXPECT_NE(merged.kernels.correlation[0], merged.kernels.correlation[1]);
  const AnalysedTrace analysed(merged);
  for (std::size_t i = 0; i < merged.kernels.size(); ++i) {
    const auto call = analysed.kernels.call[i];
    ASSERT_NE(call, kNowhere);
    EXPECT_EQ(merged.thread_lanes[merged.calls.lane[call]].process, merged.gpu_lanes[merged.kernels.lane[i]].process);
    EXPECT_EQ(merged.kernels.correlation[i], merged.calls.correlation[call]);
    const auto names = analysed.names_around(call);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names.front(),
              merged.strings.text(merged.kernels.name[i]) == "gemm" ? "nn.Module: First_0" : "nn.Module: Second_0");
  }
}

TEST(MergeTraces, joins_launches_even_of_lanes_without_a_process) {
  auto traces = two_processes();
  for (auto& trace : traces)
    for (auto& lane : trace.gpu_lanes) lane.process = 0;
  const auto merged = merge_traces(std::move(traces));
  const LaunchIndex launches(merged);
  for (const auto call : launches.calls_of(merged.kernels)) EXPECT_NE(call, kNowhere);
  EXPECT_NE(launches.calls_of(merged.kernels)[0], launches.calls_of(merged.kernels)[1]);
}

TEST(MergeTraces, leaves_unknown_launches_unknown) {
  auto traces = two_processes();
  traces[1].kernels.correlation[0] = 0;
  EXPECT_EQ(merge_traces(std::move(traces)).kernels.correlation[1], 0);
}

TEST(MergeTraces, has_devices_and_notes_once) {
  auto traces = two_processes();
  for (auto& trace : traces) trace.notes.push_back(messages::recording_dropped(3));
  traces[1].devices.push_back({1, "NVIDIA Test", 64, "9.0", 0});
  traces[1].devices[0].memory_bytes_per_s = 5;
  traces[1].lacks_work = true;
  const auto merged = merge_traces(std::move(traces));
  ASSERT_EQ(merged.devices.size(), 2U);
  EXPECT_EQ(merged.devices[0].memory_bytes_per_s, 5);
  EXPECT_EQ(merged.notes.size(), 1U);
  EXPECT_TRUE(merged.lacks_work);
}

TEST(MergeTraces, keeps_every_column_of_every_table) {
  auto traces = two_processes();
  auto& second = traces[1];
  second.kernels.grid[0] = {7, 8, 9};
  second.kernels.graph_node[0] = 11;
  second.ranges.sequence[0] = 12;
  const auto lane = second.gpu_lanes.front();
  second.copies.add(1, 2, second.strings.id("copy"), second.gpu_lane(lane), 0);
  second.copies.bytes.push_back(13);
  second.allocations.add({5, 14, 15, 16, 17, 0, second.thread_lane(second.thread_lanes.front()),
                          second.strings.id("train.py(1)"), AllocationKind::held});
  const auto merged = merge_traces(std::move(traces));
  EXPECT_EQ(merged.kernels.grid[1], (Dim3{7, 8, 9}));
  EXPECT_EQ(merged.kernels.graph_node[1], 11U);
  EXPECT_EQ(merged.ranges.sequence[1], 12);
  EXPECT_EQ(merged.copies.bytes, std::vector<std::int64_t>{13});
  EXPECT_EQ(merged.gpu_lanes[merged.copies.lane[0]].process, 42);
  EXPECT_EQ(merged.strings.text(merged.allocations.place[0]), "train.py(1)");
  EXPECT_EQ(merged.thread_lanes[merged.allocations.lane[0]].process, 42);
}

TEST(AddCounted, takes_the_counted_launches_of_a_second_run_alone) {
  auto first = process(41, "First_0", "gemm", 0);
  first.of_recorder = true;
  auto second = process(99, "First_0", "gemm", 0);
  auto& counted = second.counted;
  counted.add(5, 6, second.strings.id("gemm"), 0, 0);
  counted.grid.push_back({7, 1, 1});
  counted.block.push_back({128, 1, 1});
  counted.path.push_back(second.strings.id("2nn.Module: First_0"));
  counted.step.push_back(3);
  counted.graph_nodes.push_back(0);
  for (auto* column : {&counted.dram_read_bytes, &counted.dram_write_bytes, &counted.l2_bytes}) column->push_back(8);
  counted.tensor_permille.push_back(9);
  add_counted(first, std::move(second));
  EXPECT_TRUE(first.of_recorder);
  EXPECT_EQ(first.kernels.size(), 1U);
  EXPECT_EQ(first.ranges.size(), 1U);
  ASSERT_EQ(first.counted.size(), 1U);
  EXPECT_EQ(first.strings.text(first.counted.name[0]), "gemm");
  EXPECT_EQ(first.strings.text(first.counted.path[0]), "2nn.Module: First_0");
  EXPECT_EQ(first.counted.step[0], 3);
  EXPECT_EQ(first.gpu_lanes.size(), 1U) << "the same stream";
  add_counted(first, process(99, "First_0", "gemm", 0));
  EXPECT_EQ(first.counted.size(), 1U);
}

TEST(MergeTraces, of_none_is_empty) { EXPECT_TRUE(merge_traces({}).is_of_host()); }

}  // namespace
}  // namespace ridgeline::trace
