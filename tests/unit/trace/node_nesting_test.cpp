// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/node_nesting.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class NodeNestingTest : public ::testing::Test, public TraceBuilder {
 protected:
  void node_of(std::int64_t thread, std::string_view name, std::string_view operation, std::int64_t start,
               std::int64_t end) {
    node(name, operation, start, end);
    trace.nodes.lane.back() = trace.thread_lane({1, thread});
  }
  /// Of all rows of nodes.
  [[nodiscard]] static std::int64_t sum_of(const schema::ProfileTables& tables) {
    std::int64_t sum = 0;
    for (const auto& row : tables.nodes) sum += row.total_ns;
    return sum;
  }
};

TEST_F(NodeNestingTest, the_body_of_a_loop_is_no_time_of_the_loop) {
  for (const std::int64_t at : {0, 2000}) {
    // As ONNX Runtime writes it: what ends first comes first.
    node("/body/Add", "Add", at + 20, at + 220);
    node("/body/If/Mul", "Mul", at + 240, at + 300);
    node("/body/If", "If", at + 230, at + 400);
    node("/Loop", "Loop", at + 10, at + 910);
    node("/Relu", "Relu", at + 910, at + 950);
    annotation("model_run", at, at + 1000);
  }
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(analysed.nodes.own_ns, (std::vector<std::int64_t>{200, 60, 110, 530, 40, 200, 60, 110, 530, 40}));
  EXPECT_EQ(analysed.nodes.parent[1], 2U);
  EXPECT_EQ(analysed.nodes.parent[2], 3U);
  EXPECT_EQ(analysed.nodes.parent[4], kNowhere) << "it begins as the loop ends";
  const auto tables = tables_of(analysed);
  EXPECT_EQ(sum_of(tables), 2 * 940);
  EXPECT_EQ(tables.steps.at(0).work_ns, 940);
  EXPECT_EQ(tables.modules.front().host_total_ns, 2000) << "all rows together are the runs";
  for (const auto& row : tables.nodes)
    if (row.operation == "Loop") {
      EXPECT_EQ(row.total_ns, 1060);
      EXPECT_EQ(row.bytes, -1) << "what its body moves would count twice";
    }
  const auto notes = fakes::texts_of(nesting_notes(trace));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("within others (If, Loop)"), std::string::npos) << notes[0];
}

TEST_F(NodeNestingTest, a_part_that_seems_to_outlast_its_node_counts_once) {
  node("part", "Add", 4000, 6000);
  node("outer", "Loop", 1000, 5000);
  EXPECT_EQ(NodeNesting(trace.nodes).own_ns, (std::vector<std::int64_t>{2000, 3000}));
  node("same", "Add", 8000, 9000);
  node("outer of the same", "If", 8000, 9000);
  EXPECT_EQ(NodeNesting(trace.nodes).own_ns[2], 1000);
  EXPECT_EQ(NodeNesting(trace.nodes).own_ns[3], 0);
}

TEST_F(NodeNestingTest, nodes_of_other_threads_run_beside_and_not_within) {
  node_of(1, "a", "Conv", 0, 900);
  node_of(2, "b", "Conv", 100, 300);
  node_of(2, "c", "Conv", 300, 500);
  annotation("model_run", 0, 1000);
  const AnalysedTrace analysed(trace);
  EXPECT_EQ(analysed.nodes.own_ns, trace.nodes.duration_ns);
  EXPECT_EQ(sum_of(tables_of(analysed)), 1300);
  const auto notes = fakes::texts_of(nesting_notes(trace));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("at the same time on several threads"), std::string::npos) << notes[0];
}

TEST_F(NodeNestingTest, runs_of_two_threads_have_their_own_nodes) {
  for (const std::int64_t thread : {1, 2}) {
    const auto at = 50 * thread;
    annotation("model_run", at, at + 1000, thread);
    node_of(thread, "conv", "Conv", at + 10, at + 700);
    annotation("model_run", at + 1000, at + 1500, thread);
    node_of(thread, "conv", "Conv", at + 1010, at + 1400);
  }
  const auto tables = tables_of(AnalysedTrace(trace));
  ASSERT_EQ(tables.steps.size(), 4U);
  EXPECT_EQ(tables.runs, 4);
  for (const auto& step : tables.steps) EXPECT_EQ(step.work_ns, step.duration_ns == 1000 ? 690 : 390);
  EXPECT_EQ(tables.modules.front().host_total_ns, 3000);
}

TEST_F(NodeNestingTest, nodes_of_a_pool_belong_to_the_run_that_lets_them_run) {
  annotation("model_run", 0, 1000, 1);
  node_of(7, "conv", "Conv", 10, 700);
  const auto tables = tables_of(AnalysedTrace(trace));
  EXPECT_EQ(tables.steps.at(0).work_ns, 690);
}

}  // namespace
}  // namespace ridgeline::trace
