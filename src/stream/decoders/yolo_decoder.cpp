// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/yolo_decoder.hpp"

#include <algorithm>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/non_max_suppression.hpp"
#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
base::Result<std::unique_ptr<ResultDecoder>> YoloDecoder::make(const DecoderOptions& options,
                                                               std::span<const OutputShape> outputs, int input_width,
                                                               int input_height) {
  RL_TRY(check_box_options(options));
  RL_TRY_ASSIGN(const auto layout, find_yolo_layout(options.labels, outputs, input_width, input_height));
  return std::unique_ptr<ResultDecoder>(new YoloDecoder(options, layout));
}

YoloDecoder::YoloDecoder(const DecoderOptions& options, const YoloLayout& layout)
    : BoxDecoder(options.labels),
      layout_(layout),
      score_threshold_(static_cast<float>(options.score_threshold.value_or(0.25))),
      iou_threshold_(options.iou_threshold),
      max_boxes_(options.max_boxes) {}

void YoloDecoder::add(float centre_x, float centre_y, float width, float height, float score, std::size_t label) {
  boxes_.push_back({centre_x - width / 2, centre_y - height / 2, centre_x + width / 2, centre_y + height / 2, score,
                    static_cast<int>(label)});
}

base::Result<void> YoloDecoder::take_final(std::span<const float> values) {
  const auto channels = static_cast<std::size_t>(layout_.channels);
  for (std::size_t i = 0; i + channels <= values.size(); i += channels) {
    const float* row = values.data() + i;
    if (!(row[4] >= score_threshold_)) continue;
    RL_TRY_ASSIGN(const int label, class_number(row[5], "yolo"));
    boxes_.push_back({row[0], row[1], row[2], row[3], row[4], label});
  }
  return {};
}

void YoloDecoder::take_rows(std::span<const float> values) {
  const bool has_objectness = layout_.kind == YoloKind::rows_with_objectness;
  const auto channels = static_cast<std::size_t>(layout_.channels);
  const std::size_t first = has_objectness ? 5 : 4;
  for (std::size_t i = 0; i + channels <= values.size(); i += channels) {
    const float* row = values.data() + i;
    const float objectness = has_objectness ? row[4] : 1.0F;
    if (objectness < score_threshold_) continue;
    const float* best = std::max_element(row + first, row + first + layout_.classes);
    const float score = objectness * *best;
    if (score >= score_threshold_)
      add(row[0], row[1], row[2], row[3], score, static_cast<std::size_t>(best - row) - first);
  }
}

/// Scores first, a class at a time over all boxes, which vectorizes; the class only of boxes that stay.
void YoloDecoder::take_columns(std::span<const float> values) {
  const auto classes = static_cast<std::size_t>(layout_.classes);
  const std::size_t count = values.size() / static_cast<std::size_t>(layout_.channels);
  const float* scores = values.data() + 4 * count;
  best_.assign(scores, scores + count);
  for (std::size_t c = 1; c < classes; ++c) {
    const float* row = scores + c * count;
    float* best = best_.data();
    for (std::size_t i = 0; i < count; ++i) best[i] = best[i] < row[i] ? row[i] : best[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (best_[i] < score_threshold_) continue;
    std::size_t label = 0;
    while (scores[label * count + i] != best_[i]) ++label;
    add(values[i], values[count + i], values[2 * count + i], values[3 * count + i], best_[i], label);
  }
}

base::Result<void> YoloDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  const std::size_t channels_at = layout_.kind == YoloKind::columns ? 0 : 1;
  if (outputs.empty() || outputs[0].dims.size() != 2 || outputs[0].dims[channels_at] != layout_.channels)
    return base::fail(base::ErrorCode::invalid_argument, "decoder yolo: {}: expected {}, {} values each",
                      shapes_text(outputs), to_text(layout_), layout_.channels);
  RL_TRY(check_values(outputs[0]));
  const auto values = outputs[0].values;
  switch (layout_.kind) {
    case YoloKind::final: RL_TRY(take_final(values)); break;
    case YoloKind::columns: take_columns(values); break;
    case YoloKind::rows:
    case YoloKind::rows_with_objectness: take_rows(values); break;
  }
  if (layout_.kind == YoloKind::final)
    keep_best(boxes_, max_boxes_);
  else
    suppress_overlaps(boxes_, iou_threshold_, max_boxes_);
  return move_to_frame(boxes_, geometry, "yolo");
}

}  // namespace ridgeline::stream
