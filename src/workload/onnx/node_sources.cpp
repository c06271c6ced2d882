// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/node_sources.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "workload/onnx/model_graph.hpp"
#include "workload/onnx/module_path.hpp"
#include "workload/onnx/runtime_tensors.hpp"

namespace ridgeline::workload {
namespace {

using Node = onnx::NodeProto;

constexpr std::size_t kMostSources = 400;  // beyond it a walk has left the fused node
constexpr int kFarthestNeighbour = 16;     // nodes that the runtime put in, one behind the other

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool is_product(const Node& node) {
  const auto& type = node.op_type();
  return has(type, "Conv") || has(type, "MatMul") || has(type, "Gemm") || type == "Einsum";
}

/// How many products of the model a node of the runtime's graph may be made of. A walk that meets more has left it.
std::size_t most_products(const Node& node) {
  if (is_product(node)) return 1;
  const auto& type = node.op_type();
  const bool is_whole_block = node.domain() == "com.microsoft" && !has(type, "Gelu") && !has(type, "Norm");
  return is_whole_block ? std::numeric_limits<std::size_t>::max() : 0;
}

bool is_path(const std::string& path) { return path.find('/') != std::string::npos; }

class Sources {
 public:
  Sources(const onnx::GraphProto& model, const onnx::GraphProto& optimized)
      : optimized_(optimized), runtime_(optimized), model_(model), tensors_(model_, optimized) {
    std::size_t with_path = 0;
    for (const auto& node : model.node()) {
      position_.emplace(&node, position_.size());
      with_path += is_path(module_path(node)) ? 1U : 0U;
    }
    has_paths_ = with_path * 2 > position_.size();
  }

  void find(std::map<std::string, std::string>& out) {
    for (const auto& node : optimized_.node()) {
      if (node.name().empty()) continue;
      auto path = path_of(node);
      if (path.empty()) path = path_of_neighbour(node);
      if (!path.empty()) out[node.name()] = std::move(path);
    }
  }

 private:
  /// Nodes of the model between a node's inputs and outputs, in the model's order; empty where no output is one of the
  /// model's tensors, or the walk goes beyond the inputs.
  [[nodiscard]] std::vector<const Node*> sources_of(const Node& node, bool through_products = true) const {
    std::unordered_set<std::string> inputs;
    for (const auto& input : node.input()) {
      inputs.insert(input);
      inputs.insert(tensors_.model_tensor(input));
    }
    std::vector<std::string> open;
    for (const auto& output : node.output())
      if (const auto& tensor = tensors_.model_tensor(output); inputs.count(tensor) == 0) open.push_back(tensor);
    const auto begun = open.size();
    std::vector<const Node*> found;
    std::unordered_set<const Node*> seen;
    std::size_t products = 0;
    for (std::size_t at = 0; at < open.size(); ++at) {
      const auto tensor = open[at];
      const auto* maker = model_.producer(tensor);
      const bool is_own = at < begun;
      // What follows from constants and shapes is made before the node runs, if not a node of its own.
      if (maker == nullptr || (!is_own && model_.is_static(*maker)) || !seen.insert(maker).second) continue;
      if (is_product(*maker) && ++products > most_products(node) && !is_own) {
        if (through_products) return sources_of(node, false);  // all from the nearest one on is another node's
        continue;
      }
      if (seen.size() > kMostSources) return {};
      found.push_back(maker);
      if (is_product(*maker) && !through_products) continue;
      for (const auto& input : maker->input())
        if (!input.empty() && inputs.count(input) == 0 && !tensors_.is_made(input)) open.push_back(input);
    }
    std::sort(found.begin(), found.end(),
              [&](const auto* one, const auto* other) { return position_.at(one) < position_.at(other); });
    return found;
  }

  /// By what a node is made of, or else by its name; "" where neither tells.
  [[nodiscard]] std::string path_of(const Node& node) const {
    std::vector<std::string> paths;
    std::size_t main = 0;
    for (const auto* source : sources_of(node)) {
      auto path = module_path(*source);
      if (path.empty() || (has_paths_ && !is_path(path))) continue;
      if (is_product(*source)) main = paths.size();
      paths.push_back(std::move(path));
    }
    if (!paths.empty()) return joint_path(paths, main);
    const auto* origin = tensors_.named_after(node);
    if (origin == nullptr) return {};
    const auto path = module_path(*origin);
    return has_paths_ && !is_path(path) ? std::string() : path;
  }

  /// Beside the node that feeds it, or else the one that reads it.
  [[nodiscard]] std::string path_of_neighbour(const Node& node) const {
    const auto along = [&](const auto& tensors_of, const auto& next) -> std::string {
      const Node* at = &node;
      for (int step = 0; step < kFarthestNeighbour; ++step) {
        const Node* following = nullptr;
        for (const auto& tensor : tensors_of(*at)) {
          const auto* found = tensor.empty() ? nullptr : next(tensor);
          if (found == nullptr) continue;
          if (const auto path = path_of(*found); !path.empty()) return path + "." + node.op_type();
          if (following == nullptr) following = found;
        }
        if (following == nullptr) return {};
        at = following;
      }
      return {};
    };
    auto path = along(
        [](const Node& at) -> const auto& { return at.input(); },
        [&](const std::string& tensor) { return runtime_.producer(tensor); });
    if (!path.empty()) return path;
    return along(
        [](const Node& at) -> const auto& { return at.output(); },
        [&](const std::string& tensor) { return runtime_.consumer(tensor); });
  }

  const onnx::GraphProto& optimized_;
  ModelGraph runtime_;
  ModelGraph model_;
  RuntimeTensors tensors_;
  std::unordered_map<const Node*, std::size_t> position_;
  bool has_paths_ = false;
};

void find_all(const onnx::GraphProto& model, const onnx::GraphProto& optimized,
              std::map<std::string, std::string>& out) {
  Sources(model, optimized).find(out);
  const ModelGraph nodes(model);
  for (const auto& node : optimized.node())
    for (const auto& attribute : node.attribute()) {
      const auto* same = attribute.has_g() ? nodes.named(node.name()) : nullptr;
      if (same == nullptr) continue;
      for (const auto& other : same->attribute())
        if (other.has_g() && other.name() == attribute.name()) find_all(other.g(), attribute.g(), out);
    }
}

}  // namespace

std::map<std::string, std::string> node_sources(const onnx::GraphProto& model, const onnx::GraphProto& optimized) {
  std::map<std::string, std::string> out;
  find_all(model, optimized, out);
  return out;
}

}  // namespace ridgeline::workload
