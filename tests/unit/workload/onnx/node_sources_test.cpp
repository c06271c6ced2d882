// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_sources.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

void add(onnx::GraphProto& graph, const std::string& type, const std::string& name,
         std::initializer_list<const char*> inputs, const std::string& output) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(name);
  for (const auto* input : inputs) node.add_input(input);
  node.add_output(output);
}

/// conv -> bn -> relu in a block, and a head.
onnx::GraphProto block() {
  onnx::GraphProto graph;
  add(graph, "Conv", "/layer1/conv1/Conv", {"x", "w"}, "a");
  add(graph, "BatchNormalization", "/layer1/bn1/BatchNormalization", {"a", "s"}, "b");
  add(graph, "Relu", "/layer1/relu/Relu", {"b"}, "c");
  add(graph, "Gemm", "/fc/Gemm", {"c", "v"}, "y");
  return graph;
}

TEST(NodeSources, a_fused_node_stands_under_what_its_sources_share) {
  onnx::GraphProto optimized;
  add(optimized, "FusedConv", "fused 17", {"x", "w2"}, "c");
  add(optimized, "Gemm", "/fc/Gemm", {"c", "v"}, "y");
  const auto found = node_sources(block(), optimized);
  EXPECT_EQ(found.at("fused 17"), "/layer1/conv1.Conv + bn1.BatchNormalization + relu.Relu");
  EXPECT_EQ(found.at("/fc/Gemm"), "/fc/Gemm");
}

TEST(NodeSources, layouts_are_seen_through) {
  onnx::GraphProto optimized;
  add(optimized, "ReorderInput", "ReorderInput_token_1", {"x"}, "x_nchwc");
  add(optimized, "Conv", "a_nchwc", {"x_nchwc", "w2"}, "a_blocked");
  add(optimized, "ReorderOutput", "ReorderOutput_token_2", {"a_blocked"}, "a");
  add(optimized, "Relu", "/layer1/relu/Relu", {"a"}, "c");
  const auto found = node_sources(block(), optimized);
  EXPECT_EQ(found.at("a_nchwc"), "/layer1/conv1/Conv");
  EXPECT_EQ(found.at("ReorderOutput_token_2"), "/layer1/conv1/Conv.ReorderOutput");
  EXPECT_EQ(found.at("/layer1/relu/Relu"), "/layer1/bn1.BatchNormalization + relu.Relu")
      << "what was folded into it too";
  EXPECT_EQ(found.count("ReorderInput_token_1"), 0U) << "nothing feeds it";
}

TEST(NodeSources, an_activation_in_another_layout_is_fused_with_its_convolution) {
  onnx::GraphProto optimized;
  add(optimized, "Conv", "c_nchwc", {"x", "w2"}, "reorder_token_7");
  add(optimized, "Gemm", "/fc/Gemm", {"c", "v"}, "y");
  EXPECT_EQ(node_sources(block(), optimized).at("c_nchwc"), "/layer1/conv1.Conv + bn1.BatchNormalization + relu.Relu");
}

TEST(NodeSources, a_suffix_of_the_runtime_is_no_other_node) {
  onnx::GraphProto optimized;
  add(optimized, "Conv", "/layer1/conv1/Conv_nchwc", {"q", "w2"}, "r");
  add(optimized, "Foo", "unknown", {"q"}, "s");
  const auto found = node_sources(block(), optimized);
  EXPECT_EQ(found.at("/layer1/conv1/Conv_nchwc"), "/layer1/conv1/Conv");
  EXPECT_EQ(found.count("unknown"), 0U);
  EXPECT_TRUE(node_sources({}, {}).empty());
}

}  // namespace
}  // namespace ridgeline::workload
