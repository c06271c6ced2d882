// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/yolo_layout.hpp"

namespace ridgeline::stream {

/// Boxes of YOLO models as Ultralytics exports them; what else a model gives (masks, keypoints) is left out.
class YoloDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs,
                                                                         int input_width, int input_height);

 private:
  YoloDecoder(const DecoderOptions& options, const YoloLayout& layout);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  base::Result<void> take_final(std::span<const float> values);
  void take_rows(std::span<const float> values);
  void take_columns(std::span<const float> values);
  void add(float centre_x, float centre_y, float width, float height, float score, std::size_t label);

  YoloLayout layout_;
  float score_threshold_;
  double iou_threshold_;
  std::size_t max_boxes_;
  std::vector<float> best_;  ///< score by column
};

}  // namespace ridgeline::stream
