// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// The nodes that draw random numbers, `RandomNormalLike "noise"` (by an output where the node has no name; its seed
/// behind it), in the file's order: the random operators of ONNX and of ONNX Runtime, and dropout in training mode. A
/// training mode that is not known before the model runs counts.
[[nodiscard]] std::vector<std::string> random_nodes(const onnx::ModelProto& model);

}  // namespace ridgeline::workload
