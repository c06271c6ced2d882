// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_graph.hpp"

#include <algorithm>

namespace ridgeline::workload {
namespace {

bool has_subgraph(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& attribute) { return attribute.has_g() || attribute.graphs_size() > 0; });
}

}  // namespace

ModelGraph::ModelGraph(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> constants;
  for (const auto& input : graph.input()) tensors_.insert(input.name());
  for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) constants.insert(tensor.values().name());
  tensors_.insert(constants.begin(), constants.end());
  for (const auto& node : graph.node()) {
    if (!node.name().empty()) named_.emplace(node.name(), &node);
    for (const auto& input : node.input())
      if (!input.empty()) consumers_.emplace(input, &node);
    const auto& type = node.op_type();
    const bool is_free = type == "Constant" || type == "Shape" || type == "Size" ||
                         (node.input_size() > 0 && !has_subgraph(node) &&
                          std::all_of(node.input().begin(), node.input().end(),
                                      [&](const auto& input) { return input.empty() || constants.count(input) != 0; }));
    if (is_free) static_.insert(&node);
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      producers_[output] = &node;
      tensors_.insert(output);
      if (is_free) constants.insert(output);
    }
  }
}

}  // namespace ridgeline::workload
