// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Nodes of a graph by their names and by the tensors that they make. The graph must outlive it.
class ModelGraph {
 public:
  explicit ModelGraph(const onnx::GraphProto& graph);

  /// nullptr: there is none, and so below.
  [[nodiscard]] const onnx::NodeProto* producer(const std::string& tensor) const { return find(producers_, tensor); }
  [[nodiscard]] const onnx::NodeProto* consumer(const std::string& tensor) const { return find(consumers_, tensor); }
  [[nodiscard]] const onnx::NodeProto* named(const std::string& name) const { return find(named_, name); }
  /// Made by a node, or an input or an initializer of the graph.
  [[nodiscard]] bool has_tensor(const std::string& name) const { return tensors_.count(name) != 0; }
  /// Whether what the node makes follows from constants and from shapes alone.
  [[nodiscard]] bool is_static(const onnx::NodeProto& node) const { return static_.count(&node) != 0; }

 private:
  using ByName = std::unordered_map<std::string, const onnx::NodeProto*>;
  [[nodiscard]] static const onnx::NodeProto* find(const ByName& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
  }

  ByName producers_;
  ByName consumers_;  ///< the first of each tensor
  ByName named_;
  std::unordered_set<std::string> tensors_;
  std::unordered_set<const onnx::NodeProto*> static_;
};

}  // namespace ridgeline::workload
