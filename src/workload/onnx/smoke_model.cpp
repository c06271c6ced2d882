// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/smoke_model.hpp"

#include <cmath>
#include <initializer_list>

#include "base/version.hpp"
#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {
namespace {

using DimList = std::initializer_list<std::int64_t>;

void declare(onnx::ValueInfoProto& value, const char* name, DimList dims) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  for (const auto dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

/// Values of either sign, none of them alike, small enough that the answers stay near 1.
void add_weights(onnx::GraphProto& graph, const char* name, DimList dims) {
  auto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  std::int64_t count = 1;
  for (const auto dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (std::int64_t i = 0; i < count; ++i)
    tensor.add_float_data(static_cast<float>(0.2 * std::sin(0.7 * static_cast<double>(i) + 0.3)));
}

onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* type, std::initializer_list<const char*> inputs,
                          const char* output) {
  auto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(output);
  for (const auto* input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void set_ints(onnx::NodeProto& node, const char* name, DimList values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const auto value : values) attribute.add_ints(value);
}

}  // namespace

std::string smoke_model(std::int64_t opset) {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.set_producer_name("ridgeline doctor");
  model.set_producer_version(std::string(base::version()));
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  auto& graph = *model.mutable_graph();
  graph.set_name("smoke");
  declare(*graph.add_input(), "x", {1, 3, 32, 32});
  declare(*graph.add_output(), "y", {1, 10});
  add_weights(graph, "conv_w", {16, 3, 3, 3});
  add_weights(graph, "conv_b", {16});
  add_weights(graph, "fc_w", {16, 10});
  auto& conv = add_node(graph, "Conv", {"x", "conv_w", "conv_b"}, "conv");
  set_ints(conv, "kernel_shape", {3, 3});
  set_ints(conv, "pads", {1, 1, 1, 1});
  add_node(graph, "Relu", {"conv"}, "relu");
  add_node(graph, "GlobalAveragePool", {"relu"}, "pool");
  add_node(graph, "Flatten", {"pool"}, "flat");
  add_node(graph, "MatMul", {"flat", "fc_w"}, "y");
  return model.SerializeAsString();
}

}  // namespace ridgeline::workload
