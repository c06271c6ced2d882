// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/flop_count.hpp"

#include <gtest/gtest.h>

#include "fakes/onnx_builder.hpp"

namespace ridgeline::workload {
namespace {

using fakes::OnnxBuilder;

/// FLOPs of a model by operator; -1 for an operator that could not be counted.
std::map<std::string, double> flops_of(const OnnxBuilder& builder, const schema::ShapeSet& shapes = {}) {
  std::map<std::string, double> result;
  infer_shapes(builder.model, shapes, [&](const TypedNode& node) {
    const auto count = count_flops(node);
    if (count.knowledge == FlopKnowledge::counted)
      result[node.node.op_type()] += node.repeats * count.flops;
    else
      result[node.node.op_type()] = -1;
  });
  return result;
}

TEST(FlopCount, counts_the_first_layer_of_resnet_50_as_its_paper_does) {
  OnnxBuilder model;
  model.input("x", {1, 3, 224, 224}).weight("w", {64, 3, 7, 7}).weight("b", {64});
  model.node("Conv", {"x", "w", "b"}, {"y"}).ints("strides", {2, 2}).ints("pads", {3, 3, 3, 3}).output("y");
  // 112 x 112 x 64 results, each of 3 x 7 x 7 multiply-adds and one bias addition: 118,013,952 multiply-adds.
  EXPECT_EQ(flops_of(model).at("Conv"), 2.0 * 118013952 + 112 * 112 * 64);
}

TEST(FlopCount, divides_a_grouped_convolution_by_its_groups) {
  OnnxBuilder model;
  model.input("x", {2, 32, 10, 10}).weight("w", {32, 1, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).integer("group", 32).output("y");
  EXPECT_EQ(flops_of(model).at("Conv"), 2.0 * (2 * 32 * 8 * 8) * 9);
}

TEST(FlopCount, counts_a_transposed_convolution_by_its_inputs) {
  OnnxBuilder model;
  model.input("x", {1, 8, 5, 5}).weight("w", {8, 4, 2, 2}).weight("b", {4});
  model.node("ConvTranspose", {"x", "w", "b"}, {"y"}).ints("strides", {2, 2}).output("y");
  EXPECT_EQ(flops_of(model).at("ConvTranspose"), 2.0 * (8 * 5 * 5) * 4 * 4 + 4 * 10 * 10);
}

TEST(FlopCount, counts_matrix_products_with_broadcast_batches) {
  OnnxBuilder matmul;
  matmul.input("a", {2, 12, 7, 64}).input("b", {2, 12, 64, 5}).node("MatMul", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(flops_of(matmul).at("MatMul"), 2.0 * (2 * 12) * 7 * 5 * 64);
  OnnxBuilder gemm;
  gemm.input("a", {64, 3}).weight("b", {10, 64}).weight("c", {10});
  gemm.node("Gemm", {"a", "b", "c"}, {"y"}).integer("transA", 1).integer("transB", 1).output("y");
  EXPECT_EQ(flops_of(gemm).at("Gemm"), 2.0 * 3 * 10 * 64 + 3 * 10);
}

TEST(FlopCount, reads_einsum_equations) {
  OnnxBuilder model;
  model.input("a", {2, 3, 4}).input("b", {2, 4, 5});
  model.node("Einsum", {"a", "b"}, {"y"}).text("equation", "bij, bjk -> bik");
  model.node("Einsum", {"a"}, {"t"}).text("equation", "bij->bji").output("y").output("t");
  EXPECT_EQ(flops_of(model).at("Einsum"), 2.0 * 2 * 3 * 4 * 5);
  OnnxBuilder dots;
  dots.input("a", {7, 3, 4}).input("b", {4, 5}).node("Einsum", {"a", "b"}, {"y"}).text("equation", "...ij,jk->...ik");
  EXPECT_EQ(flops_of(dots.output("y")).at("Einsum"), 2.0 * 7 * 3 * 4 * 5);
}

TEST(FlopCount, counts_pooling_normalisation_and_elementwise_work) {
  OnnxBuilder model;
  model.input("x", {1, 4, 6, 6}).weight("s", {4});
  model.node("MaxPool", {"x"}, {"p"}).ints("kernel_shape", {2, 2}).ints("strides", {2, 2});
  model.node("BatchNormalization", {"p", "s", "s", "s", "s"}, {"n"});
  model.node("Relu", {"n"}, {"r"}).node("Sigmoid", {"r"}, {"g"}).node("Softmax", {"g"}, {"m"});
  model.node("GlobalAveragePool", {"x"}, {"v"}).node("Flatten", {"v"}, {"f"}).output("m").output("f");
  const auto flops = flops_of(model);
  EXPECT_EQ(flops.at("MaxPool"), 4.0 * 9 * 4);
  EXPECT_EQ(flops.at("BatchNormalization"), 2.0 * 36);
  EXPECT_EQ(flops.at("Relu"), 36.0);
  EXPECT_EQ(flops.at("Sigmoid"), 4.0 * 36);
  EXPECT_EQ(flops.at("Softmax"), 5.0 * 36);
  EXPECT_EQ(flops.at("GlobalAveragePool"), 144.0);
  EXPECT_EQ(flops.at("Flatten"), 0.0);
}

TEST(FlopCount, counts_recurrent_layers_over_time_and_both_directions) {
  OnnxBuilder model;
  model.input("x", {10, 2, 8}).weight("w", {2, 64, 8}).weight("r", {2, 64, 16});
  model.node("LSTM", {"x", "w", "r"}, {"y"}).integer("hidden_size", 16).text("direction", "bidirectional").output("y");
  EXPECT_EQ(flops_of(model).at("LSTM"), 10.0 * 2 * 2 * (2.0 * 64 * (8 + 16) + 26 * 16));
}

TEST(FlopCount, counts_interpolation_only_where_sizes_change) {
  OnnxBuilder model;
  model.input("x", {1, 3, 4, 4}).integers("to", {1, 3, 8, 8});
  model.node("Resize", {"x", "", "", "to"}, {"y"}).text("mode", "linear").output("y");
  EXPECT_EQ(flops_of(model).at("Resize"), 3.0 * 8 * 8 * 9);
}

TEST(FlopCount, admits_what_it_does_not_know) {
  OnnxBuilder model;
  model.opset("acme", 1)
      .input("x", {1, 4})
      .node("Mystery", {"x"}, {"y"}, "acme")
      .node("Relu", {"y"}, {"z"})
      .output("z");
  const auto flops = flops_of(model);
  EXPECT_EQ(flops.at("Mystery"), -1);
  EXPECT_EQ(flops.at("Relu"), -1);
}

}  // namespace
}  // namespace ridgeline::workload
