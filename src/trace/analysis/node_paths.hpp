// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

namespace ridgeline::trace {

struct NodePath {
  std::vector<std::string> modules;  ///< from the outermost
  std::string leaf;
};

/// Where in a model its nodes stand: by their names, where these are paths ("/encoder/layer.0/MatMul", as PyTorch
/// exports them); otherwise by repetition, as a network without such names still consists of equal blocks: runs of
/// nodes whose operations repeat are a part of their own ("part3: (Conv Clip Conv) x4").
class NodePaths {
 public:
  explicit NodePaths(const Trace& trace);
  [[nodiscard]] const NodePath& of(NameId name) const { return paths_.at(name); }
  /// Also of a name that no node of the trace has.
  [[nodiscard]] NodePath of(std::string_view name) const;

 private:
  std::unordered_map<NameId, NodePath> paths_;
  std::unordered_map<std::string_view, NameId> names_;  ///< of the trace
};

}  // namespace ridgeline::trace
