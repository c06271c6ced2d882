// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"
#include "workload/onnx/small_tensor.hpp"

namespace ridgeline::workload {

/// What is known of a node's inputs: each has a type, a value, or neither.
struct FoldInput {
  bool given = false;  ///< false for an optional input that was left out
  const onnx::TypeProto* type = nullptr;
  const SmallTensor* value = nullptr;
};

/// Computes the single output of a node on small tensors when all that it reads is known: the shape arithmetic that
/// exporters leave in graphs (Shape, Gather, Concat, Mul, Slice, Range ...). It lets shape inference see through
/// Reshape, Resize and the like once the inputs' shapes are concrete. nullopt when the operator is not one of these, a
/// value is missing, or the arguments are odd: then the value is simply unknown.
[[nodiscard]] std::optional<SmallTensor> fold_node(const onnx::NodeProto& node, const std::vector<FoldInput>& inputs);

}  // namespace ridgeline::workload
