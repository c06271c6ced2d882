// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/modules.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "trace/analysis/tables.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {
namespace {

const schema::ProfileModule* row(const schema::ProfileTables& tables, std::string_view path) {
  const auto found =
      std::find_if(tables.modules.begin(), tables.modules.end(), [&](const auto& one) { return one.path == path; });
  return found == tables.modules.end() ? nullptr : &*found;
}

class ModulesTest : public ::testing::Test, public TraceBuilder {
 protected:
  [[nodiscard]] schema::ProfileTables tables() const { return tables_of(AnalysedTrace(trace)); }
};

TEST_F(ModulesTest, kernels_are_told_by_name_the_longest_first) {
  for (const auto& [name, took] : std::vector<std::pair<const char*, int>>{{"b", 5}, {"c", 30}, {"a", 5}, {"c", 10}})
    kernel(name, 0, took, 0);
  std::string names;
  const auto table = tables().kernels;
  for (const auto& one : table) names += one.name;
  EXPECT_EQ(names, "cab");
  EXPECT_EQ(table[0].calls, 2);
  EXPECT_EQ(table[0].total_ns, 40);
  EXPECT_EQ(table[0].least_ns, 10);
  EXPECT_EQ(table[0].most_ns, 30);
}

TEST_F(ModulesTest, kernels_belong_to_the_outermost_operation_of_their_module) {
  module("Net_0", 0, 1000'000);
  module("Linear_0", 1000, 500'000);
  operation("aten::linear", 2000, 400'000);
  operation("aten::addmm", 3000, 300'000);
  launch("gemm", 4000, 10'000, 20'000);
  launch("bias", 6000, 20'000, 25'000);
  const auto found = tables();
  const auto* linear = row(found, "Net_0/Linear_0/aten::linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->gpu_self_ns, 15'000);
  EXPECT_EQ(linear->kernels, 2);
  EXPECT_EQ(linear->calls, 1);
  EXPECT_EQ(linear->host_total_ns, 398'000) << "what an operation calls is part of it";
  EXPECT_EQ(row(found, "Net_0/Linear_0/aten::linear/aten::addmm"), nullptr);
  const auto* net = row(found, "Net_0");
  ASSERT_NE(net, nullptr);
  EXPECT_EQ(net->gpu_total_ns, 15'000);
  EXPECT_EQ(net->gpu_self_ns, 0);
  EXPECT_EQ(net->host_total_ns, 1000'000);
  EXPECT_EQ(net->host_self_ns, 501'000);
}

TEST_F(ModulesTest, the_line_that_calls_a_module_is_no_part_of_its_name) {
  module("Net", 0, 1000'000);
  module("act (GELU) @ net.py(57): forward", 1000, 500'000);
  launch("gelu", 4000, 10'000, 20'000);
  const auto found = tables();
  const auto* act = row(found, "Net/act (GELU)");
  ASSERT_NE(act, nullptr);
  EXPECT_EQ(act->name, "act (GELU)");
  EXPECT_EQ(act->line, "net.py(57): forward");
  EXPECT_EQ(row(found, "Net")->line, "");
}

TEST_F(ModulesTest, calls_of_one_module_share_a_row) {
  for (const std::int64_t at : {0, 100'000}) {
    module("Net_0", at, at + 90'000);
    launch("k", at + 10, at + 20'000, at + 30'000);
  }
  const auto found = tables();
  EXPECT_EQ(row(found, "Net_0")->calls, 2);
  EXPECT_EQ(row(found, "Net_0")->gpu_total_ns, 20'000);
}

TEST_F(ModulesTest, the_backward_pass_belongs_to_its_forward_operation) {
  module("Net_0", 0, 100'000);
  module("Conv_0", 1000, 50'000);
  operation("aten::empty", 1500, 1600, 1, 7);  // without a gradient, and the number of the next that has one
  operation("aten::conv2d", 2000, 40'000, 1, 7);
  launch("forward", 3000, 4000, 5000);
  module("Relu_0", 51'000, 90'000);
  operation("aten::empty", 51'100, 51'200, 1, 8);
  operation("aten::relu", 52'000, 80'000, 1, 8);
  // Another thread; the profiler's own number of the forward thread is 1.
  operation("autograd::engine::evaluate_function: ConvolutionBackward0", 200'000, 300'000, 2, 7, 1);
  operation("ConvolutionBackward0", 201'000, 299'000, 2, 7, 1);
  operation("aten::convolution_backward", 202'000, 290'000, 2, -1, 0);
  launch("wgrad", 210'000, 220'000, 250'000, 2);
  operation("autograd::engine::evaluate_function: ReluBackward0", 150'000, 190'000, 2, 8, 1);
  launch("threshold", 160'000, 170'000, 171'000, 2);
  const auto found = tables();
  const auto* conv = row(found, "Net_0/Conv_0/aten::conv2d");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->gpu_total_ns, 31'000);
  EXPECT_EQ(conv->backward_ns, 30'000);
  EXPECT_EQ(conv->calls, 1) << "its gradient is no call of it";
  EXPECT_EQ(row(found, "Net_0/Relu_0/aten::relu")->backward_ns, 1000);
  EXPECT_EQ(row(found, "Net_0")->backward_ns, 31'000);
}

TEST_F(ModulesTest, threads_with_the_same_numbers_are_told_apart) {
  // Two threads run forward passes whose numbers collide; thread 3 shares more of them with the backward thread 2.
  for (std::int64_t n = 1; n <= 3; ++n) operation("aten::mul", 1000 * n, 1000 * n + 500, 3, n);
  operation("aten::add", 1000, 1500, 1, 2);
  for (std::int64_t n = 1; n <= 3; ++n)
    operation("autograd::engine::evaluate_function: MulBackward0", 10'000 * n, 10'000 * n + 5000, 9, n, 2);
  launch("grad", 20'100, 21'000, 22'000, 9);
  EXPECT_EQ(row(tables(), "aten::mul")->backward_ns, 1000);
}

TEST_F(ModulesTest, a_forward_pass_that_is_computed_again_is_found_for_its_gradient) {
  module("Net_0", 0, 1000);
  operation("aten::conv2d", 100, 900, 1, 5);
  operation("autograd::engine::evaluate_function: CheckpointFunctionBackward", 10'000, 90'000, 2, 5, 1);
  module("Block_0", 11'000, 40'000, 2);
  operation("aten::relu", 12'000, 30'000, 2, 3);
  operation("autograd::engine::evaluate_function: ReluBackward0", 50'000, 60'000, 2, 3, 2);
  launch("again", 51'000, 52'000, 55'000, 2);
  const auto found = tables();
  ASSERT_NE(row(found, "Net_0/aten::conv2d/Block_0/aten::relu"), nullptr);
  EXPECT_EQ(row(found, "Net_0/aten::conv2d/Block_0/aten::relu")->backward_ns, 3000);
}

TEST_F(ModulesTest, work_without_a_place_is_a_row) {
  operation("aten::mm", 0, 10'000);
  launch("known", 100, 2000, 3000);
  launch("between", 20'000, 21'000, 22'500);
  kernel("unknown", 30'000, 31'000, 99);
  copy("Memcpy HtoD (Pageable -> Device)", 40'000, 44'000, 100);
  const auto found = tables();
  const auto* rest = row(found, "(unattributed)");
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->gpu_total_ns, 1500 + 1000 + 4000);
  EXPECT_EQ(rest->kind, schema::ModuleKind::unattributed);
  EXPECT_EQ(found.modules.front().gpu_total_ns, 7500);
}

TEST_F(ModulesTest, steps_and_python_lines_are_no_modules) {
  annotation("ProfilerStep#3", 0, 100'000);
  range(RangeKind::python, "train.py(12): step", 100, 90'000);
  annotation("## forward ##", 1000, 80'000);
  launch("k", 2000, 3000, 4000);
  const auto found = tables();
  EXPECT_NE(row(found, "forward"), nullptr);
  EXPECT_EQ(found.modules.size(), 2U);
  ASSERT_EQ(found.steps.size(), 1U);
  EXPECT_EQ(found.steps.front().work_ns, 1000);
  EXPECT_EQ(row(found, "forward")->step_ns, (std::vector<std::int64_t>{1000}));
}

TEST_F(ModulesTest, nodes_stand_by_their_paths_and_runs_are_whole) {
  annotation("session_initialization", 0, 50);
  for (const std::int64_t at : {100, 300, 500}) {
    annotation("model_run", at, at + 150);
    node("/encoder/layer.0/MatMul", "MatMul", at + 10, at + 60);
    node("/encoder/layer.1/MatMul", "MatMul", at + 60, at + 100);
    node("/head/Softmax", "Softmax", at + 100, at + 140);
  }
  const auto found = tables();
  EXPECT_EQ(row(found, "encoder")->host_total_ns, 270);
  EXPECT_EQ(row(found, "encoder/layer.0/MatMul")->kind, schema::ModuleKind::node);
  EXPECT_EQ(row(found, "encoder")->flops, 120);
  EXPECT_EQ(row(found, "(outside of nodes)")->host_total_ns, 60);
  EXPECT_EQ(found.modules.front().host_total_ns, 450) << "that of the runs";
  EXPECT_EQ(found.runs, 3);
  EXPECT_EQ(row(found, "head")->step_ns, (std::vector<std::int64_t>{40, 40, 40}));
  EXPECT_EQ(row(found, "session_initialization"), nullptr);
}

TEST_F(ModulesTest, kernels_of_a_graph_are_where_it_was_captured) {
  annotation("replay", 1000, 1100);
  call("cudaGraphLaunch", 1010, 1020, 5);
  for (int node = 1; node <= 3; ++node) {
    kernel("gemm", 1100 + 100 * node, 1150 + 100 * node, 5);
    trace.kernels.graph_node.back() = static_cast<std::uint64_t>(node);
  }
  trace.graph_nodes.push_back(
      {1, 1,
       trace.strings.id(
           "1ProfilerStep#3\n2nn.Module: Net_0\n2train.py(3): f\n2nn.Module: Linear_0\n0aten::mm\n0aten::x")});
  trace.graph_nodes.push_back({1, 2, trace.strings.id("2nn.Module: Net_0")});
  trace.graph_nodes.push_back({2, 3, trace.strings.id("2nn.Module: Other_0")});  // of another process
  const auto found = tables();
  EXPECT_EQ(row(found, "Net_0/Linear_0/aten::mm")->gpu_total_ns, 50);
  EXPECT_EQ(row(found, "Net_0")->gpu_total_ns, 100);
  EXPECT_EQ(row(found, "replay")->gpu_total_ns, 50);
  EXPECT_EQ(row(found, "(unattributed)"), nullptr);
}

TEST_F(ModulesTest, modules_of_a_recorded_backward_pass_are_those_of_the_forward_pass) {
  annotation("train", 0, 1000);
  module("Net", 100, 400);
  module("Net.head (Linear)", 200, 300);
  launch("gemm", 210, 500, 550);
  annotation("(backward)", 500, 900, 2);  // on autograd's own thread
  module("Net", 510, 800, 2);
  module("Net.head (Linear)", 520, 600, 2);
  launch("gemm_dgrad", 530, 600, 700, 2);
  launch("accumulate", 850, 900, 910, 2);
  const auto found = tables();
  ASSERT_NE(row(found, "train/Net/Net.head (Linear)"), nullptr);
  EXPECT_EQ(row(found, "train/Net/Net.head (Linear)")->gpu_total_ns, 150);
  EXPECT_EQ(row(found, "train/Net/Net.head (Linear)")->backward_ns, 100);
  EXPECT_EQ(row(found, "train/Net/Net.head (Linear)")->calls, 1);
  EXPECT_EQ(row(found, "(backward)")->gpu_total_ns, 10);
}

TEST_F(ModulesTest, a_damaged_path_of_a_graph_is_no_row) {
  kernel("gemm", 1100, 1150, 5);
  trace.kernels.graph_node.back() = 7;
  for (const auto* path : {"", "\n\n", "2", "9x", "2plain line"})
    trace.graph_nodes.push_back({1, 7, trace.strings.id(path)});
  EXPECT_NE(row(tables(), "(unattributed)"), nullptr);
}

TEST_F(ModulesTest, nodes_without_paths_are_grouped_by_what_repeats) {
  annotation("model_run", 0, 1000);
  std::int64_t at = 0;
  const auto add = [&](const std::string& name, std::string_view operation) {
    node(name, operation, at, at + 10), at += 10;
  };
  add("first", "Transpose");
  for (int block = 0; block < 3; ++block) {
    add("c" + std::to_string(block), "Conv");
    add("r" + std::to_string(block), "Relu");
    add("p" + std::to_string(block), "MaxPool");
  }
  add("last", "Gemm");
  const auto found = tables();
  ASSERT_NE(row(found, "part1: Transpose/first"), nullptr);
  ASSERT_NE(row(found, "part2: (Conv Relu MaxPool) x3"), nullptr);
  EXPECT_EQ(row(found, "part2: (Conv Relu MaxPool) x3")->host_total_ns, 90);
  ASSERT_NE(row(found, "part3: Gemm/last"), nullptr);
}

}  // namespace
}  // namespace ridgeline::trace
