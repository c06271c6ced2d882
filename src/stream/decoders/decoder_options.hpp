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

/// Keypoints of a pose model: how many, and whether each has a score behind x and y.
struct KeypointShape {
  std::size_t count = 0;
  std::size_t values = 3;  ///< 2 or 3
};

/// What a decoder is to do. Thresholds are from 0 to 1.
struct DecoderOptions {
  std::vector<std::string> labels;  ///< names by class or keypoint; may be empty
  std::optional<double>
      score_threshold;          ///< default: ppocr 0.6, detr and boxes 0.5, other boxes 0.25, else: all are told
  double iou_threshold = 0.45;  ///< of two boxes of one class that overlap more, the better one stays
  std::size_t max_boxes = 300;  ///< the best ones
  std::vector<int> classes;     ///< boxes of others are left out; empty: of none
  std::string task;             ///< as the model's metadata tell: "detect", "pose", "obb", ...; "": not known
  std::optional<KeypointShape> keypoints;  ///< the same
  std::optional<DetrScores> detr_scores;   ///< default: softmax with one class more than labels, or 92 without labels
  double text_threshold = 0.3;             ///< ppocr: of a pixel
  double unclip_ratio = 1.5;               ///< ppocr: boxes grow by area * ratio / perimeter on each side
};

/// An output as the model declares it, without the batch's dimension; -1 where a dimension may have any size.
struct OutputShape {
  std::string name;
  std::vector<std::int64_t> dims;
};

}  // namespace ridgeline::stream
