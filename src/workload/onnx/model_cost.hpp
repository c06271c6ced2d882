// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/model_description.hpp"
#include "workload/onnx/graph_shapes.hpp"

namespace ridgeline::workload {

/// Fills flops, flops_by_op, min_bytes and uncounted_ops for the description's shapes (means over a shape mix), with
/// notes on what keeps them from being complete. Needs the census to be taken.
///
/// min_bytes: parameters, inputs and outputs once, every other result of a node once written and once read; results
/// that are views of another tensor or known beforehand count nothing. Fusion can go below it, caches and repeated
/// reads above.
void estimate_cost(const onnx::ModelProto& model, schema::ModelDescription& description);

}  // namespace ridgeline::workload
