// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::workload {

/// The bytes of a small ONNX model that needs what every network needs: a convolution (cuDNN), a matrix product
/// (cuBLAS) and element-wise kernels; input "x" 1x3x32x32, output "y" 1x10, weights by formula. The default opset and
/// IR version are old enough for every ONNX Runtime that Ridgeline takes.
[[nodiscard]] std::string smoke_model(std::int64_t opset = 13);

}  // namespace ridgeline::workload
