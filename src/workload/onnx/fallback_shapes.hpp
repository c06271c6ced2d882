// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// The first output's type of operators that libonnx 1.12 has no shape rule for but whose shape is plain: those that
/// return the shape of their first input (activations and normalisations of newer opsets and of ONNX Runtime's own
/// domain), Einsum and MatMulNBits. nullopt for every other operator, and when the input's type is unknown.
[[nodiscard]] std::optional<onnx::TypeProto> fallback_type(const onnx::NodeProto& node,
                                                           const std::vector<const onnx::TypeProto*>& inputs);

}  // namespace ridgeline::workload
