// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_sources.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::size_t kMostSources = 400;  // beyond it a walk has left the fused node

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (auto& part : base::split(path, '/'))
    if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::string joined_path(const std::vector<std::string>& parts, std::size_t from, std::size_t to, char separator) {
  std::string out;
  for (std::size_t i = from; i < to; ++i) out += (i > from ? std::string(1, separator) : std::string()) + parts[i];
  return out;
}

/// The directory that all have in common, and below it their names joined.
std::string common_path(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> all;
  for (const auto& name : names) all.push_back(parts_of(name));
  std::size_t common = all.front().empty() ? 0 : all.front().size() - 1;
  for (const auto& parts : all) {
    std::size_t same = 0;
    while (same < common && same + 1 < parts.size() && parts[same] == all.front()[same]) ++same;
    common = std::min(common, same);
  }
  auto path = joined_path(all.front(), 0, common, '/');
  std::string leaf;
  for (const auto& parts : all) leaf += (leaf.empty() ? "" : " + ") + joined_path(parts, common, parts.size(), '.');
  const bool is_path = names.front().find('/') != std::string::npos;
  return (is_path ? "/" : "") + (path.empty() ? leaf : path + "/" + leaf);
}

class Sources {
 public:
  Sources(const onnx::GraphProto& model, const onnx::GraphProto& optimized) : optimized_(optimized) {
    for (const auto& node : model.node()) {
      names_.insert(node.name());
      for (const auto& output : node.output()) producers_[output] = &node;
    }
    for (const auto& node : optimized.node()) {
      for (const auto& output : node.output()) optimized_producers_[output] = &node;
      // Nodes that only change a layout: what they read or write is the model's tensor by another name.
      if (node.op_type() == "ReorderOutput" && node.input_size() > 0 && node.output_size() > 0)
        aliases_[node.input(0)] = node.output(0);
      if (node.op_type() == "ReorderInput" && node.input_size() > 0 && node.output_size() > 0)
        aliases_[node.output(0)] = node.input(0);
      // "TENSOR_nchwc" makes that tensor in another layout.
      if (const auto stem = stem_of(node.name()); node.output_size() > 0 && producers_.count(stem) != 0)
        aliases_.emplace(node.output(0), stem);
    }
  }

  std::map<std::string, std::string> find() {
    std::map<std::string, std::string> out;
    for (const auto& node : optimized_.node()) {
      if (node.name().empty()) continue;
      auto path = changes_layout(node) ? std::string() : path_of(node);
      if (path.empty()) path = path_of_neighbour(node);
      if (!path.empty()) out[node.name()] = std::move(path);
    }
    return out;
  }

 private:
  /// Nodes of the model between a node's inputs and outputs, in the model's order of visits; empty where an output is
  /// not one of the model's tensors, or the walk goes beyond the inputs.
  [[nodiscard]] std::vector<std::string> sources_of(const onnx::NodeProto& node) const {
    std::unordered_set<std::string> inputs;
    for (const auto& input : node.input()) inputs.insert(tensor_of(input));
    std::vector<std::string> names;
    std::unordered_set<const onnx::NodeProto*> seen;
    std::vector<std::string> open;
    for (const auto& output : node.output()) open.push_back(tensor_of(output));
    while (!open.empty()) {
      const auto tensor = std::move(open.back());
      open.pop_back();
      const auto producer = producers_.find(tensor);
      if (producer == producers_.end() || !seen.insert(producer->second).second) continue;
      if (seen.size() > kMostSources) return {};
      if (!producer->second->name().empty()) names.push_back(producer->second->name());
      for (const auto& input : producer->second->input())
        // What another node of the optimized graph makes, or nobody does, is not part of this one.
        if (!input.empty() && inputs.count(input) == 0 && optimized_producers_.count(input) == 0) open.push_back(input);
    }
    std::reverse(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::string path_of(const onnx::NodeProto& node) const {
    const auto sources = sources_of(node);
    if (sources.size() > 1) return common_path(sources);
    if (sources.size() == 1) return sources.front();
    if (names_.count(node.name()) != 0) return node.name();
    // "/conv1/Conv_nchwc", or "TENSOR_nchwc" of a node without a name: the runtime's own suffix.
    const auto stem = stem_of(node.name());
    if (names_.count(stem) != 0) return stem;
    const auto producer = producers_.find(stem);
    return producer == producers_.end() ? std::string() : producer->second->name();
  }

  /// Without the last "_" and what follows it; "" where there is none.
  [[nodiscard]] static std::string stem_of(const std::string& name) {
    const auto end = name.rfind('_');
    return end == std::string::npos ? std::string() : name.substr(0, end);
  }

  [[nodiscard]] static bool changes_layout(const onnx::NodeProto& node) {
    return node.op_type().rfind("Reorder", 0) == 0;
  }

  /// The model's tensor that a tensor of the optimized graph is.
  [[nodiscard]] const std::string& tensor_of(const std::string& name) const {
    const auto alias = producers_.count(name) != 0 ? aliases_.end() : aliases_.find(name);
    return alias == aliases_.end() ? name : alias->second;
  }

  /// Beside the node that feeds it.
  [[nodiscard]] std::string path_of_neighbour(const onnx::NodeProto& node) const {
    for (const auto& input : node.input()) {
      const auto producer = optimized_producers_.find(input);
      if (producer == optimized_producers_.end()) continue;
      const auto path = path_of(*producer->second);
      if (!path.empty()) return path + "." + node.op_type();
    }
    return {};
  }

  const onnx::GraphProto& optimized_;
  std::unordered_map<std::string, const onnx::NodeProto*> producers_;
  std::unordered_map<std::string, const onnx::NodeProto*> optimized_producers_;
  std::unordered_map<std::string, std::string> aliases_;
  std::unordered_set<std::string> names_;
};

}  // namespace

std::map<std::string, std::string> node_sources(const onnx::GraphProto& model, const onnx::GraphProto& optimized) {
  return Sources(model, optimized).find();
}

}  // namespace ridgeline::workload
