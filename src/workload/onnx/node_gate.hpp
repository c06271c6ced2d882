// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

#include <onnx/defs/schema.h>

namespace ridgeline::workload {

/// What keeps a node from libonnx's rule, which trusts much of what a valid model guarantees.
enum class Gate {
  open,
  unknown,  ///< something that the rule reads is not known
  refused,  ///< the node breaks its operator's definition as libonnx knows it
  misfit,   ///< its inputs have sizes that no version of the operator takes
};

struct GateResult {
  Gate gate = Gate::open;
  std::string reason;
};

/// `rule`: the operator whose rule is asked for the node. `types` are its inputs', null where unknown.
[[nodiscard]] GateResult check_gate(const onnx::NodeProto& node, const std::string& rule, const onnx::OpSchema& schema,
                                    const std::vector<const onnx::TypeProto*>& types);

}  // namespace ridgeline::workload
