// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/workload_registry.hpp"

namespace ridgeline::workload {

/// The kind "onnx": a model file run by ONNX Runtime.
[[nodiscard]] WorkloadKind make_onnx_kind();

}  // namespace ridgeline::workload
