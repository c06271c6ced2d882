// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ridgeline::trace {

using Shapes = std::vector<std::vector<std::int64_t>>;  ///< of a node's inputs or outputs, in its order

/// Arithmetic operations of one call of an ONNX node by its operator, without the domain, and its shapes
/// (schema::count_flops). -1: the operator is not in that table, or the shapes do not tell. 0 for what only moves data.
[[nodiscard]] std::int64_t node_flops(std::string_view operation, const Shapes& inputs, const Shapes& outputs);

/// Whether a node's profile lacks an input that its operator computes with: ONNX Runtime leaves out weights that it
/// packed before the run, so that neither bytes nor operations are known.
[[nodiscard]] bool lacks_operand(std::string_view operation, const Shapes& inputs);

}  // namespace ridgeline::trace
