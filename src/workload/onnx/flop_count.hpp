// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/onnx/graph_shapes.hpp"

namespace ridgeline::workload {

enum class FlopKnowledge {
  counted,        ///< by formula, or known to be free of arithmetic
  unknown_shape,  ///< there is a formula, but a shape that it needs is not known
  no_formula,     ///< the operator is not in the table
};

struct FlopCount {
  FlopKnowledge knowledge = FlopKnowledge::no_formula;
  double flops = 0;  ///< of one run of the node
};

/// Arithmetic operations of one run of a node, integer ones included. A multiplication and an addition count as two; a
/// comparison, exponential, logarithm, square root or tanh counts as one. Moving, selecting and converting elements
/// counts as none. The formulas follow the operators' definitions in the ONNX specification (docs/Operators.md,
/// ContribOperators.md for com.microsoft) and are written beside each row of the table.
[[nodiscard]] FlopCount count_flops(const TypedNode& node);

/// Whether a node only renames or reinterprets its input, so that no bytes need to move.
[[nodiscard]] bool is_view(const onnx::NodeProto& node);

}  // namespace ridgeline::workload
