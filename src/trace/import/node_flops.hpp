// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ridgeline::trace {

using Shapes = std::vector<std::vector<std::int64_t>>;  ///< of a node's inputs or outputs, in its order

/// Floating-point operations of one call of an ONNX node, a multiply-add counting as two, by its shapes: products of
/// matrices and convolutions exactly, what is done element by element as one for each output. -1: the shapes do not
/// tell. 0 for what only moves data.
[[nodiscard]] std::int64_t node_flops(std::string_view operation, const Shapes& inputs, const Shapes& outputs);

}  // namespace ridgeline::trace
