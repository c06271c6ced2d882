// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "stream/preprocess_options.hpp"

namespace ridgeline::stream {

/// One output of the model for one frame: the batch's dimension is taken off. Row-major.
struct OutputView {
  std::string_view name;
  std::span<const std::int64_t> dims;
  std::span<const float> values;  ///< other types converted; integers up to 2^24 exactly
};

/// Turns a model's outputs for one frame into what a user wants to read. Reused for all frames of one worker.
class ResultDecoder {
 public:
  virtual ~ResultDecoder() = default;
  /// Appends a JSON value to `json`. Coordinates are pixels of the frame. Errors: invalid_argument where the outputs
  /// are not what this decoder reads, with their shapes.
  [[nodiscard]] virtual base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                                  std::string& json) = 0;
};

}  // namespace ridgeline::stream
