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
  EXPECT_EQ(found.at("ReorderInput_token_1"), "/layer1/conv1/Conv.ReorderInput")
      << "nothing feeds it, but that reads it";
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

/// Every node of YOLOv8's C2f block, as Ultralytics exports it.
onnx::GraphProto yolo() {
  onnx::GraphProto graph;
  for (const std::string at : {"/model.2/m.0/cv1", "/model.2/m.0/cv2", "/model.3"}) {
    const auto input = at == "/model.2/m.0/cv1"   ? std::string("images")
                       : at == "/model.2/m.0/cv2" ? std::string("/model.2/m.0/cv1/act/Mul_output_0")
                                                  : std::string("/model.2/m.0/cv2/act/Mul_output_0");
    add(graph, "Conv", at + "/conv/Conv", {input.c_str(), "w", "b"}, at + "/conv/Conv_output_0");
    const auto conv = at + "/conv/Conv_output_0";
    const auto gate = at + "/act/Sigmoid_output_0";
    add(graph, "Sigmoid", at + "/act/Sigmoid", {conv.c_str()}, gate);
    add(graph, "Mul", at + "/act/Mul", {conv.c_str(), gate.c_str()}, at + "/act/Mul_output_0");
  }
  for (const auto* weight : {"w", "b"}) graph.add_initializer()->set_name(weight);
  return graph;
}

TEST(NodeSources, yolov8_keeps_its_modules_where_the_activation_stays_in_the_convolutions_layout) {
  onnx::GraphProto optimized;
  add(optimized, "Conv", "/model.2/m.0/cv1/conv/Conv_output_0_nchwc", {"images", "reorder", "b"}, "reorder_token_0");
  add(optimized, "QuickGelu", "/model.2/m.0/cv1/act/Mul/QuickGeluFusion/", {"reorder_token_0"}, "reorder_token_1");
  add(optimized, "Conv", "/model.2/m.0/cv2/conv/Conv_output_0_nchwc", {"reorder_token_1", "reorder_token_2", "b"},
      "reorder_token_3");
  add(optimized, "QuickGelu", "/model.2/m.0/cv2/act/Mul/QuickGeluFusion/", {"reorder_token_3"}, "reorder_token_4");
  add(optimized, "Conv", "/model.3/conv/Conv_output_0_nchwc", {"reorder_token_4", "reorder_token_5", "b"},
      "reorder_token_6");
  add(optimized, "QuickGelu", "/model.3/act/Mul/QuickGeluFusion/", {"reorder_token_6"}, "reorder_token_7");
  add(optimized, "ReorderOutput", "ReorderOutput_token_9", {"reorder_token_7"}, "/model.3/act/Mul_output_0");
  const auto found = node_sources(yolo(), optimized);
  for (const std::string at : {"/model.2/m.0/cv1", "/model.2/m.0/cv2", "/model.3"}) {
    EXPECT_EQ(found.at(at + "/conv/Conv_output_0_nchwc"), at + "/conv/Conv");
    EXPECT_EQ(found.at(at + "/act/Mul/QuickGeluFusion/"), at + "/act/Sigmoid + Mul");
  }
  EXPECT_EQ(found.at("ReorderOutput_token_9"), "/model.3/act/Sigmoid + Mul.ReorderOutput");
}

TEST(NodeSources, no_convolution_is_a_fusion_of_two) {
  onnx::GraphProto optimized;  // of the tensor between them nothing is known
  add(optimized, "Odd", "odd", {"images"}, "unknown");
  add(optimized, "Conv", "late", {"unknown", "r", "b"}, "/model.2/m.0/cv2/conv/Conv_output_0");
  add(optimized, "Relu", "later", {"beyond"}, "/model.2/m.0/cv2/act/Mul_output_0");
  const auto found = node_sources(yolo(), optimized);
  EXPECT_EQ(found.at("late"), "/model.2/m.0/cv2/conv/Conv");
  EXPECT_EQ(found.at("later"), "/model.2/m.0/cv2/act/Sigmoid + Mul") << "an activation is made of no convolution";
}

/// Of RT-DETR, as PyTorch's TorchScript exporter writes it: weights of equal values by nodes without a path.
TEST(NodeSources, rt_detr_by_torchscript_has_one_top_module) {
  onnx::GraphProto model;
  const auto weight = [&](const char* name) { model.add_initializer()->set_name(name); };
  for (const auto* name : {"w", "s", "shift", "k"}) weight(name);
  const std::string stage = "/model/backbone/encoder/stages.0/layers.0";
  add(model, "Identity", "Identity_582", {"s"}, "onnx::Mul_1");
  add(model, "Identity", "Identity_583", {"shift"}, "onnx::Add_1");
  add(model, "Constant", "Constant_7", {}, "onnx::Shape_2");
  add(model, "Conv", stage + "/layer.1/convolution/Conv", {"x", "w"}, "c");
  add(model, "Mul", stage + "/layer.1/normalization/Mul", {"c", "onnx::Mul_1"}, "m");
  add(model, "Add", stage + "/layer.1/normalization/Add", {"m", "onnx::Add_1"}, "a");
  add(model, "Add", stage + "/Add", {"a", "x"}, "sum");
  add(model, "Relu", stage + "/activation/Relu", {"sum"}, "r");
  add(model, "Reshape", "/model/encoder/Reshape", {"r", "onnx::Shape_2"}, "flat");
  add(model, "MatMul", "/model/encoder/k_proj/MatMul", {"flat", "k"}, "p");
  add(model, "Add", "/model/encoder/k_proj/Add", {"onnx::Add_1", "p"}, "q");
  add(model, "Transpose", "/model/encoder/Transpose", {"q"}, "y");
  onnx::GraphProto optimized;
  add(optimized, "ReorderInput", "ReorderInput", {"x"}, "reorder_token_0");
  add(optimized, "Conv", "a_nchwc", {"reorder_token_0", "reorder", "ConvAddFusion_Add_B_1", "reorder_token_0"},
      "reorder_token_1");
  auto& activation = *optimized.mutable_node(1)->add_attribute();
  activation.set_name("activation");
  activation.set_s("Relu");
  add(optimized, "ReorderOutput", "ReorderOutput", {"reorder_token_1"}, "r");
  add(optimized, "Reshape", "/model/encoder/Reshape", {"r", "folded"}, "flat");
  add(optimized, "Reshape", "gemm_input_reshape", {"flat", "gemm_input_shape"}, "gemm_input_reshape_arg");
  add(optimized, "Gemm", "/model/encoder/k_proj/MatMul/MatMulAddFusion", {"gemm_input_reshape_arg", "k", "shift"},
      "gemm_output_reshape_arg");
  add(optimized, "Reshape", "gemm_output_reshape", {"gemm_output_reshape_arg", "gemm_output_shape"}, "q");
  add(optimized, "Transpose", "/model/encoder/Transpose", {"q"}, "y");
  const auto found = node_sources(model, optimized);
  EXPECT_EQ(found.at("a_nchwc"),
            stage +
                "/layer.1.convolution.Conv + layer.1.normalization.Mul + layer.1.normalization.Add + "
                "Add + activation.Relu")
      << "with the sum and the activation that it took up under its old name";
  EXPECT_EQ(found.at("/model/encoder/Reshape"), "/model/encoder/Reshape") << "without what makes its shape";
  EXPECT_EQ(found.at("/model/encoder/k_proj/MatMul/MatMulAddFusion"), "/model/encoder/k_proj/MatMul + Add");
  EXPECT_EQ(found.at("gemm_output_reshape"), "/model/encoder/k_proj/MatMul + Add.Reshape");
  EXPECT_EQ(found.size(), static_cast<std::size_t>(optimized.node_size()));
  for (const auto& [node, path] : found) EXPECT_EQ(path.rfind("/model/", 0), 0U) << node << ": " << path;
}

/// metadata_props, which the oldest ONNX that this builds with does not know.
void tell(onnx::GraphProto& graph, const std::string& key, const std::string& value) {
  onnx::StringStringEntryProto entry;
  entry.set_key(key);
  entry.set_value(value);
  const auto bytes = entry.SerializeAsString();
  ASSERT_LT(bytes.size(), 128U * 128U);
  std::string field(1, static_cast<char>(9 << 3 | 2));
  field += static_cast<char>(bytes.size() % 128 | 128);
  field += static_cast<char>(bytes.size() / 128);
  ASSERT_TRUE(graph.mutable_node(graph.node_size() - 1)->MergeFromString(field + bytes));
}

TEST(NodeSources, rt_detr_by_dynamo_has_the_modules_of_its_metadata) {
  onnx::GraphProto model;
  for (const auto* name : {"w", "k"}) model.add_initializer()->set_name(name);
  const std::string scopes = "pkg.torch.onnx.name_scopes";
  add(model, "Conv", "node_Conv_2725", {"x", "w"}, "conv2d");
  tell(model, scopes,
       "['', 'model', 'model.backbone', 'model.backbone.layer.0', 'model.backbone.layer.0.convolution', 'conv2d']");
  add(model, "Relu", "node_relu", {"conv2d"}, "relu");
  tell(model, scopes,
       "['', 'model', 'model.backbone', 'model.backbone.layer.0', 'model.backbone.layer.0.activation', 'relu']");
  add(model, "Cast", "val_12", {"relu"}, "cast");  // written by a rewriter
  add(model, "MatMul", "node_MatMul_9", {"cast", "k"}, "y");
  tell(model, "namespace",
       ": Net/model: Model/model.enc_output: torch.nn.modules.container.Sequential/model.enc_output.0: "
       "torch.nn.modules.linear.Linear/linear: aten.linear.default");
  add(model, "Add", "node_add", {"y", "y"}, "z");
  tell(model, scopes, "['', 'add']");
  onnx::GraphProto optimized;
  add(optimized, "Conv", "relu_nchwc", {"x", "reorder"}, "reorder_token_1");
  add(optimized, "ReorderOutput", "ReorderOutput", {"reorder_token_1"}, "relu");
  add(optimized, "Cast", "val_12", {"relu"}, "cast");
  add(optimized, "MatMul", "node_MatMul_9", {"cast", "k"}, "y");
  add(optimized, "Add", "node_add", {"y", "y"}, "z");
  const auto found = node_sources(model, optimized);
  EXPECT_EQ(found.at("relu_nchwc"), "/model/backbone/layer.0/convolution.Conv_2725 + activation.relu");
  EXPECT_EQ(found.at("ReorderOutput"), "/model/backbone/layer.0/convolution.Conv_2725 + activation.relu.ReorderOutput");
  EXPECT_EQ(found.at("val_12"), "/model/backbone/layer.0/convolution.Conv_2725 + activation.relu.Cast")
      << "without a place of its own";
  EXPECT_EQ(found.at("node_MatMul_9"), "/model/enc_output/enc_output.0/MatMul_9");
  EXPECT_EQ(found.at("node_add"), "/add");
}

TEST(NodeSources, a_fusion_across_modules_stands_in_that_of_its_product) {
  onnx::GraphProto model;
  add(model, "Conv", "/stem/conv/Conv", {"x", "w"}, "c");
  add(model, "Relu", "/act/Relu", {"c"}, "r");
  onnx::GraphProto optimized;
  add(optimized, "FusedConv", "f", {"x", "w"}, "r");
  EXPECT_EQ(node_sources(model, optimized).at("f"), "/stem/conv/Conv + act.Relu");
}

TEST(NodeSources, branches_have_places_of_their_own) {
  onnx::GraphProto model;
  onnx::GraphProto optimized;
  for (auto* graph : {&model, &optimized}) {
    add(*graph, "If", "/head/If", {"c"}, "y");
    auto& branch = *graph->mutable_node(0)->add_attribute();
    branch.set_name("then_branch");
    add(*branch.mutable_g(), "Relu", "/head/act/Relu", {"x"}, "b");
  }
  optimized.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_name("/head/act/Relu_token_3");
  EXPECT_EQ(node_sources(model, optimized).at("/head/act/Relu_token_3"), "/head/act/Relu");
}

}  // namespace
}  // namespace ridgeline::workload
