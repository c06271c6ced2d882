// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/run_cut.hpp"

#include <gtest/gtest.h>

#include "trace/analysis/run_notes.hpp"
#include "trace/analysis/tables.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::campaign {
namespace {

schema::ProfiledModel profiled(std::int64_t warmups) {
  schema::ProfiledModel model;
  model.warmups = warmups;
  return model;
}

TEST(RunCut, warm_ups_are_left_out_and_nodes_get_their_places) {
  trace::TraceBuilder all;
  all.annotation("session_initialization", 0, 50);
  for (const std::int64_t at : {100, 200, 300}) {
    all.annotation("model_run", at, at + 80);
    all.node("fused 1", "Conv", at + 1, at + 40);
    all.node("kept", "Relu", at + 41, at + 70);
  }
  all.trace.nodes.flops.back() = -1;
  auto model = profiled(1);
  model.paths = {{"fused 1", "/block/Conv + Relu"}};
  model.flops = {{"kept", 77}, {"fused 1", 88}};
  const auto cut = counted_runs(all.trace, model, 0);
  ASSERT_EQ(cut.nodes.size(), 4U);
  EXPECT_EQ(cut.ranges.size(), 2U);
  EXPECT_EQ(cut.nodes.start_ns.front(), 201);
  EXPECT_EQ(cut.strings.text(cut.nodes.name[0]), "/block/Conv + Relu");
  EXPECT_EQ(cut.strings.text(cut.nodes.name[1]), "kept");
  EXPECT_EQ(cut.nodes.flops, (std::vector<std::int64_t>{20, 20, 20, 77}));
  EXPECT_EQ(counted_runs(all.trace, profiled(3), 0).nodes.size(), 0U);
}

TEST(RunCut, a_node_lasts_until_the_next_less_what_the_profiler_takes) {
  trace::TraceBuilder all;
  all.annotation("model_run", 0, 100);
  all.node("a", "Conv", 10, 30);
  all.node("b", "Relu", 40, 41);
  all.node("c", "Add", 43, 90);
  EXPECT_EQ(counted_runs(all.trace, profiled(0), 15).nodes.duration_ns, (std::vector<std::int64_t>{25, 1, 52}));
  const auto shorter = counted_runs(all.trace, profiled(0), 15);
  EXPECT_EQ(shorter.nodes.start_ns, (std::vector<std::int64_t>{10, 35, 36}));
  EXPECT_EQ(shorter.ranges.duration_ns, std::vector<std::int64_t>{88}) << "the second node had 2 to give";
  EXPECT_EQ(counted_runs(all.trace, profiled(0), 0).nodes.duration_ns, (std::vector<std::int64_t>{20, 1, 47}));
  all.node("beside", "Mul", 50, 60);
  all.trace.nodes.lane.back() = all.trace.thread_lane({1, 2});
  EXPECT_EQ(counted_runs(all.trace, profiled(0), 20).nodes.duration_ns.front(), 20) << "in parallel";
}

TEST(RunCut, nodes_that_take_less_than_the_profiler_keep_their_calls_and_bytes) {
  trace::TraceBuilder all;
  for (const std::int64_t at : {0, 10'000, 20'000}) {
    all.annotation("model_run", at, at + 9000);
    all.node("a", "Conv", at + 1000, at + 2000, 100);
    all.node("b", "Relu", at + 2000, at + 2000, 100);  // of less than a microsecond
    all.node("c", "Add", at + 2000, at + 8000, 100);
    all.node("d", "Mul", at + 9000, at + 9000, 100);  // until the end of the run
  }
  for (const double own_ns : {0.0, 4000.0, 100'000.0}) {
    const auto cut = counted_runs(all.trace, profiled(0), own_ns);
    const trace::AnalysedTrace analysed(cut);
    const auto tables = trace::tables_of(analysed);
    ASSERT_EQ(tables.nodes.size(), 4U) << own_ns;
    for (const auto& node : tables.nodes)
      EXPECT_EQ(std::pair(node.calls, node.bytes), std::pair(3L, 300L)) << node.name;
    EXPECT_TRUE(trace::run_notes(analysed).empty()) << own_ns;
  }
}

TEST(RunCut, nodes_of_a_loop_stay_within_it) {
  trace::TraceBuilder all;
  all.annotation("model_run", 0, 100);
  all.node("a", "Conv", 10, 18);
  all.node("body", "MatMul", 25, 40);
  all.node("body", "MatMul", 45, 60);
  all.node("loop", "Loop", 20, 70);
  all.node("b", "Add", 72, 90);
  const auto cut = counted_runs(all.trace, profiled(0), 10);  // 2 a node
  EXPECT_EQ(cut.nodes.start_ns, (std::vector<std::int64_t>{10, 21, 39, 18, 64}));
  EXPECT_EQ(cut.nodes.duration_ns, (std::vector<std::int64_t>{8, 15, 15, 46, 26}));
  EXPECT_EQ(cut.ranges.duration_ns, std::vector<std::int64_t>{90});
}

TEST(RunCut, work_of_a_gpu_is_kept_with_its_nodes) {
  trace::TraceBuilder all;
  for (const std::int64_t at : {100, 200}) {
    all.annotation("model_run", at, at + 80);
    all.node("conv", "Conv", at + 1, at + 9);
    all.trace.nodes.correlation.back() = at;
    all.kernel("gemm", at + 10, at + 50, at);
    all.copy("MemcpyDtoH", at + 50, at + 60, -1, 8, at);
  }
  const auto cut = counted_runs(all.trace, profiled(1), 0);
  EXPECT_EQ(cut.kernels.start_ns, std::vector<std::int64_t>{210});
  EXPECT_EQ(cut.kernels.correlation, cut.nodes.correlation);
  EXPECT_EQ(cut.copies.duration_ns, std::vector<std::int64_t>{10});
}

TEST(RunCut, a_part_that_a_provider_compiled_says_so) {
  trace::TraceBuilder all;
  all.annotation("model_run", 0, 80);
  all.node("OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0", "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1", 1,
           40);
  all.trace.nodes.provider.front() = all.trace.strings.id("OpenVINOExecutionProvider");
  const auto cut = counted_runs(all.trace, profiled(0), 0);
  EXPECT_EQ(cut.strings.text(cut.nodes.operation.front()), "compiled by OpenVINO");
}

}  // namespace
}  // namespace ridgeline::campaign
