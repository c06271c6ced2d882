// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Infers the types of a subgraph's outputs from those of its inputs; given to libonnx for If, Loop and Scan.
using SubgraphInference = std::function<std::vector<const onnx::TypeProto*>(
    const onnx::GraphProto&, const std::vector<const onnx::TypeProto*>&)>;

enum class RuleOutcome {
  inferred,       ///< the rule ran; outputs may still lack shapes
  contradiction,  ///< the rule refused the inputs
  no_rule,        ///< no operator of that name in a version we know
};

struct RuleResult {
  RuleOutcome outcome = RuleOutcome::no_rule;
  std::vector<onnx::TypeProto> outputs;  ///< one an output of the node
  std::string message;                   ///< of a contradiction
};

/// Applies libonnx's shape rule for one node. `types` and `values` are its inputs', null where unknown.
[[nodiscard]] RuleResult apply_shape_rule(const onnx::NodeProto& node,
                                          const std::map<std::string, std::int64_t>& opsets,
                                          const std::vector<const onnx::TypeProto*>& types,
                                          const std::vector<const onnx::TensorProto*>& values,
                                          const SubgraphInference& subgraph);

}  // namespace ridgeline::workload
