// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline::stream {

/// What a detection transformer's logits become.
enum class DetrScores {
  sigmoid,  ///< a score for each class (RT-DETR, Deformable DETR)
  softmax,  ///< one distribution, whose last class is "no object" (DETR)
};

/// What a decoder is to do. Thresholds are from 0 to 1.
struct DecoderOptions {
  std::vector<std::string> labels;        ///< names by class or keypoint; may be empty
  std::optional<double> score_threshold;  ///< default: ppocr 0.6, yolo 0.25, detr 0.5, else: all are told
  double iou_threshold = 0.45;            ///< yolo: of two boxes of one class that overlap more, the better one stays
  std::size_t max_boxes = 300;            ///< yolo, detr: the best ones
  std::optional<DetrScores> detr_scores;  ///< default: softmax with one class more than labels, or 92 without labels
  double text_threshold = 0.3;            ///< ppocr: of a pixel
  double unclip_ratio = 1.5;              ///< ppocr: boxes grow by area * ratio / perimeter on each side
};

/// An output as the model declares it, without the batch's dimension; -1 where a dimension may have any size.
struct OutputShape {
  std::string name;
  std::vector<std::int64_t> dims;
};

}  // namespace ridgeline::stream
