// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_walk.hpp"

namespace ridgeline::workload {
namespace {

// Recursion is bounded: protobuf refuses messages nested more than 100 deep.
class Walk {
 public:
  explicit Walk(const ModelVisitor& visitor) : visitor_(visitor) {}

  void graph(const onnx::GraphProto& graph) const {
    for (const auto& initializer : graph.initializer()) tensor(initializer, TensorRole::initializer);
    for (const auto& sparse : graph.sparse_initializer()) tensor(sparse.values(), TensorRole::initializer);
    for (const auto& one : graph.node()) node(one);
  }

  void node(const onnx::NodeProto& node) const {
    if (visitor_.node) visitor_.node(node);
    const auto role = node.op_type() == "Constant" ? TensorRole::constant : TensorRole::attribute;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) tensor(attribute.t(), role);
      for (const auto& one : attribute.tensors()) tensor(one, role);
      if (attribute.has_sparse_tensor()) tensor(attribute.sparse_tensor().values(), role);
      for (const auto& one : attribute.sparse_tensors()) tensor(one.values(), role);
      if (attribute.has_g()) graph(attribute.g());
      for (const auto& one : attribute.graphs()) graph(one);
    }
  }

 private:
  void tensor(const onnx::TensorProto& tensor, TensorRole role) const {
    if (visitor_.tensor) visitor_.tensor(tensor, role);
  }

  const ModelVisitor& visitor_;
};

}  // namespace

void walk_model(const onnx::ModelProto& model, const ModelVisitor& visitor) {
  const Walk walk(visitor);
  walk.graph(model.graph());
  for (const auto& function : model.functions())
    for (const auto& node : function.node()) walk.node(node);
}

}  // namespace ridgeline::workload
