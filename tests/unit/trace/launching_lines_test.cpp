// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/launching_lines.hpp"

#include <string>

#include <gtest/gtest.h>

#include "trace/analysis/line_table.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

class LaunchingLinesTest : public ::testing::Test, public TraceBuilder {
 protected:
  /// A launch as the recorder has it with `--lines`: the line is a range with the times of the call.
  void launch_at(std::string_view line, std::string_view name, std::int64_t called, std::int64_t thread = 1) {
    if (!line.empty()) range(RangeKind::python, line, called, called + 1000, thread);
    launch(name, called, called + 2000, called + 2100, thread);
  }
  [[nodiscard]] std::string line_of(Place kernel) const {
    const AnalysedTrace analysed(trace);
    return std::string(analysed.lines.of_kernel(kernel, analysed.kernels.call[kernel]));
  }
};

TEST_F(LaunchingLinesTest, the_line_is_that_of_the_call_else_the_one_that_calls_the_module) {
  range(RangeKind::python, "train.py(41): main", 0, 100'000);
  module("Net", 100, 90'000);
  module("block (Block) @ net.py(7): forward", 200, 80'000);
  launch_at("net.py(57): forward", "softmax", 1'000);
  launch_at("", "gemm", 10'000);
  launch_at("", "outside", 85'000);
  launch_at("", "later", 200'000);
  EXPECT_EQ(line_of(0), "net.py(57): forward");
  EXPECT_EQ(line_of(1), "net.py(7): forward");
  EXPECT_EQ(line_of(2), "train.py(41): main");
  EXPECT_EQ(line_of(3), "");
}

TEST_F(LaunchingLinesTest, a_backward_pass_has_lines_of_the_forward_pass_alone) {
  range(RangeKind::python, "train.py(50): main", 0, 100'000);
  annotation("(backward)", 100, 90'000);
  launch_at("", "first", 1'000);
  module("block (Block) @ net.py(7): forward", 5'000, 80'000);
  launch_at("", "second", 10'000);
  launch_at("own.py(3): backward", "third", 20'000);
  EXPECT_EQ(line_of(0), "");
  EXPECT_EQ(line_of(1), "net.py(7): forward");
  EXPECT_EQ(line_of(2), "own.py(3): backward");
}

TEST_F(LaunchingLinesTest, kernels_of_a_graph_have_the_line_that_was_captured) {
  range(RangeKind::python, "serve.py(9): replay", 0, 100'000);
  const auto captured = launch("gemm", 1'000, 2'000, 3'000);
  const auto unknown = launch("gemm", 5'000, 6'000, 7'000);
  trace.kernels.graph_node[captured] = 4;
  trace.kernels.graph_node[unknown] = 5;
  trace.graph_nodes.push_back({1, 4, trace.strings.id("2nn.Module: Net\n2net.py(57): forward")});
  EXPECT_EQ(line_of(captured), "net.py(57): forward");
  EXPECT_EQ(line_of(unknown), "serve.py(9): replay");
}

TEST_F(LaunchingLinesTest, table) {
  launch_at("net.py(57): forward", "softmax", 0);
  launch_at("net.py(57): forward", "add", 10'000);
  launch_at("net.py(60): forward", "add", 20'000);
  range(RangeKind::python, "train.py(8): main", 30'000, 31'000);
  launch_copy("Memcpy DtoH", 30'000, 32'000, 32'050, 400);
  range(RangeKind::python, "train.py(8): main", 40'000, 45'000);
  call("cudaStreamSynchronize", 40'000, 45'000, 90);
  call("cudaStreamSynchronize", 50'000, 55'000, 91);
  const AnalysedTrace analysed(trace);
  const auto rows = line_rows(analysed);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].line, "net.py(57): forward");
  EXPECT_EQ(rows[0].kernels, 2);
  EXPECT_EQ(rows[0].work_ns, 200);
  EXPECT_EQ(rows[0].waits, 0);
  EXPECT_EQ(rows[1].line, "net.py(60): forward");
  EXPECT_EQ(rows[2].line, "train.py(8): main");
  EXPECT_EQ(rows[2].copies, 1);
  EXPECT_EQ(rows[2].work_ns, 50);
  EXPECT_EQ(rows[2].waits, 1);
  EXPECT_EQ(rows[2].waited_ns, 5'000);
  const auto tables = tables_of(analysed);
  EXPECT_EQ(tables.lines.size(), 3U);
  for (const auto& kernel : tables.kernels)
    EXPECT_EQ(kernel.line, kernel.name == "softmax" ? "net.py(57): forward" : "");
}

TEST_F(LaunchingLinesTest, without_lines_there_is_no_table) {
  launch_at("", "softmax", 0);
  range(RangeKind::python, "torch/nn/functional.py(9): linear", 10'000, 11'000);
  launch("gemm", 10'000, 12'000, 13'000);
  EXPECT_TRUE(line_rows(AnalysedTrace(trace)).empty());
}

TEST_F(LaunchingLinesTest, findings_name_the_line_of_all_their_kernels) {
  module("Net", 0, 10'000'000);
  for (int i = 0; i < 20; ++i) {
    const std::int64_t at = 100'000 * i;
    range(RangeKind::python, "net.py(57): gelu", at, at + 1000);
    // Of one operation that is launched again and again, nothing is saved: it loops over tensors.
    launch("void at::native::vectorized_elementwise_kernel<4, x" + std::to_string(i % 5) + ">", at, at + 2'000,
           at + 50'000);
  }
  const AnalysedTrace analysed(trace);
  const auto found = find_savings(analysed, tables_of(analysed));
  const auto chain = std::find_if(found.begin(), found.end(),
                                  [](const auto& finding) { return finding.rule() == "elementwise-chain"; });
  ASSERT_NE(chain, found.end());
  EXPECT_EQ(chain->line, "net.py(57): gelu");
  EXPECT_EQ(chain->module, "Net");
}

}  // namespace
}  // namespace ridgeline::trace
