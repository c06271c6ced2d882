// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/operator_flops.hpp"
#include "workload/onnx/graph_shapes.hpp"

namespace ridgeline::workload {

using schema::FlopCount;
using schema::FlopKnowledge;

/// schema::count_flops of a node of a model; none for one whose result is known beforehand.
[[nodiscard]] FlopCount count_flops(const TypedNode& node);

/// Whether a node only renames or reinterprets its input, so that no bytes need to move.
[[nodiscard]] bool is_view(const onnx::NodeProto& node);

}  // namespace ridgeline::workload
