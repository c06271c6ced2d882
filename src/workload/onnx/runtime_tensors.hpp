// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "workload/onnx/model_graph.hpp"

namespace ridgeline::workload {

/// What the tensors of the graph that a runtime made of a model are in the model. A tensor that it keeps has its name;
/// another is known by the node that makes it, where that one's name comes from a node or a tensor of the model, or by
/// nodes that only change a tensor's layout or type. Both graphs must outlive it.
class RuntimeTensors {
 public:
  RuntimeTensors(const ModelGraph& model, const onnx::GraphProto& optimized);

  /// The model's tensor, perhaps in another layout; "": unknown.
  [[nodiscard]] const std::string& model_tensor(const std::string& name) const;
  /// Whether a node of the runtime's graph makes that tensor of the model.
  [[nodiscard]] bool is_made(const std::string& model_tensor) const { return made_.count(model_tensor) != 0; }
  /// The node of the model that the name of a node of the runtime's graph comes from: "/conv1/Conv_nchwc",
  /// "/act/Mul/QuickGeluFusion/", "TENSOR_nchwc"; nullptr: none.
  [[nodiscard]] const onnx::NodeProto* named_after(const onnx::NodeProto& node) const;

 private:
  struct Origin {
    const onnx::NodeProto* node = nullptr;
    std::string tensor{};  ///< that the name has in it; "": it has the node's
  };
  [[nodiscard]] Origin origin_of(const onnx::NodeProto& node) const;
  /// The runtime put it in, and its output is its first input in another layout, type, shape or place.
  [[nodiscard]] bool passes_through(const onnx::NodeProto& node) const;
  void learn_forward(const onnx::NodeProto& node);
  /// The result behind the sum and the activation that a convolution has taken up and keeps its name with.
  [[nodiscard]] std::string behind_epilogue(const onnx::NodeProto& node, std::string tensor) const;

  const ModelGraph& model_;
  std::unordered_set<std::string> kept_;  ///< names of nodes
  std::unordered_map<std::string, std::string> aliases_;
  std::unordered_set<std::string> made_;
};

}  // namespace ridgeline::workload
