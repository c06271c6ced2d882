// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/batch_preprocessor.hpp"
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
  [[nodiscard]] stream::InputType value_type() const noexcept;
};

/// `orig_target_sizes`, by which RT-DETR and its kin scale their boxes: width and height for each picture.
struct SizeInput {
  std::string name;
  ElementType type = ElementType::int64;  ///< int64, int32 or float
  std::int64_t rows = -1;                 ///< -1: as many as pictures
};

/// What a pipeline feeds.
struct PictureInputs {
  ImageInput image;
  std::optional<SizeInput> sizes;
};

/// Errors: invalid_argument where the model has not exactly one input of 4 dimensions with 1 or 3 channels, or others
/// than sizes beside it; unsupported for their types.
[[nodiscard]] base::Result<PictureInputs> find_picture_inputs(const std::vector<OrtPort>& inputs,
                                                              const std::string& model);

}  // namespace ridgeline::workload
