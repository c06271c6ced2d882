// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/preprocess_options.hpp"
#include "workload/onnx/ort_values.hpp"

namespace ridgeline::workload {

/// The input of a model that takes pictures.
struct ImageInput {
  std::string name;
  ElementType type = ElementType::float32;  ///< float, float16 or uint8
  stream::TensorLayout layout = stream::TensorLayout::nchw;
  std::int64_t batch = -1;  ///< -1: any
  std::int64_t channels = 3;
  int height = -1;  ///< -1: any
  int width = -1;

  /// Of a batch: "1x3x704x1280" as numbers.
  [[nodiscard]] std::vector<std::int64_t> dims(std::int64_t frames, int input_height, int input_width) const;
};

/// Errors: invalid_argument where the model has not exactly one input of 4 dimensions with 1 or 3 channels, or others
/// beside it; unsupported for its type.
[[nodiscard]] base::Result<ImageInput> find_image_input(const std::vector<OrtPort>& inputs, const std::string& model);

}  // namespace ridgeline::workload
