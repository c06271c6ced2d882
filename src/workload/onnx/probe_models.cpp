// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/probe_models.hpp"

#include <initializer_list>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {
namespace {

void declare_float(onnx::ValueInfoProto& value, const std::string& name, std::initializer_list<std::int64_t> dims) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  for (const auto dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

onnx::ModelProto probe_model(const char* name) {
  onnx::ModelProto model;
  model.set_ir_version(7);
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(13);
  model.mutable_graph()->set_name(name);
  return model;
}

}  // namespace

std::string product_model(std::int64_t size) {
  auto model = probe_model("product");
  auto& graph = *model.mutable_graph();
  declare_float(*graph.add_input(), "a", {size, size});
  declare_float(*graph.add_input(), "b", {size, size});
  declare_float(*graph.add_output(), "y", {size, size});
  auto& node = *graph.add_node();
  node.set_op_type("MatMul");
  node.set_name("product");
  node.add_input("a");
  node.add_input("b");
  node.add_output("y");
  return model.SerializeAsString();
}

}  // namespace ridgeline::workload
