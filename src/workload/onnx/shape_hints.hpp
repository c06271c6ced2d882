// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "workload/onnx/onnx_proto.hpp"
#include "workload/onnx/shape_choice.hpp"

namespace ridgeline::workload {

/// What the model itself says of its dynamic dimensions: the metadata key "imgsz" (Ultralytics), channel and feature
/// counts fixed by the weights of a first Conv, MatMul, Gemm or recurrent layer, the PP-OCR family from the file's
/// name, and whether the output looks like class scores.
[[nodiscard]] ShapeHints collect_shape_hints(const onnx::ModelProto& model, const std::filesystem::path& path,
                                             const std::vector<schema::TensorDescription>& inputs,
                                             const std::vector<schema::TensorDescription>& outputs);

}  // namespace ridgeline::workload
