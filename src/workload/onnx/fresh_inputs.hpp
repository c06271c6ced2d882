// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "workload/onnx/npy_file.hpp"

namespace ridgeline::workload {

/// Other inputs that the model takes as well: the same values, moved on by one element. Floating-point tensors always,
/// others from 16 elements on: a short integer tensor may be a shape or an axis, whose order means something.
[[nodiscard]] std::vector<Tensor> fresh_inputs(std::vector<Tensor> tensors);

}  // namespace ridgeline::workload
