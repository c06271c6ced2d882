// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "schema/model_description.hpp"
#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Fills what the file itself says: producer, versions, inputs and outputs, node histogram, parameters, control flow,
/// and notes on what is odd. Parameters are initializers and tensors of Constant nodes, of every element type.
void take_census(const onnx::ModelProto& model, schema::ModelDescription& description);

/// Inputs that declare no rank: their dims are empty, yet they need not be scalars.
[[nodiscard]] std::set<std::string> unranked_inputs(const onnx::ModelProto& model);

/// The one spelling of the default operator domain, which files write as "" or "ai.onnx".
[[nodiscard]] std::string normal_domain(const std::string& domain);

/// "Conv", "com.microsoft.Gelu": an operator's name with its domain where that is not the default.
[[nodiscard]] std::string operator_name(const onnx::NodeProto& node);

}  // namespace ridgeline::workload
