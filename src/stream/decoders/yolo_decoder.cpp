// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/yolo_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/words.hpp"

namespace ridgeline::stream {
namespace {

std::string_view name_of(const YoloLayout& layout) {
  if (layout.kind == YoloKind::grid) return "yolox";
  return layout.task == YoloTask::pose ? "pose" : layout.task == YoloTask::obb ? "obb" : "yolo";
}

BoxRules rules_of(const YoloLayout& layout, const DecoderOptions& options) {
  BoxRules rules;
  rules.decoder = name_of(layout);
  rules.score_threshold = static_cast<float>(options.score_threshold.value_or(0.25));
  rules.suppresses = layout.kind != YoloKind::final;
  rules.has_angle = layout.task == YoloTask::obb;
  rules.keypoints = layout.task == YoloTask::pose ? layout.keypoints.count : 0;
  rules.keypoint_values = layout.keypoints.values;
  return rules;
}

}  // namespace

base::Result<std::unique_ptr<ResultDecoder>> YoloDecoder::make(YoloTask task, const DecoderOptions& options,
                                                               std::span<const OutputShape> outputs, int input_width,
                                                               int input_height) {
  RL_TRY(check_box_options(options));
  RL_TRY_ASSIGN(const auto layout, find_yolo_layout(task, options, outputs, input_width, input_height));
  return std::unique_ptr<ResultDecoder>(new YoloDecoder(rules_of(layout, options), options, layout));
}

base::Result<std::unique_ptr<ResultDecoder>> YoloDecoder::make_grid(const DecoderOptions& options,
                                                                    std::span<const OutputShape> outputs,
                                                                    int input_width, int input_height) {
  RL_TRY(check_box_options(options));
  RL_TRY_ASSIGN(const auto layout, find_grid_layout(options, outputs, input_width, input_height));
  return std::unique_ptr<ResultDecoder>(new YoloDecoder(rules_of(layout, options), options, layout));
}

YoloDecoder::YoloDecoder(const BoxRules& rules, const DecoderOptions& options, const YoloLayout& layout)
    : BoxDecoder(rules, options),
      layout_(layout),
      knows_task_(options.task == "obb"),
      knows_classes_(!options.task.empty() || !options.labels.empty()) {}

void YoloDecoder::add(float centre_x, float centre_y, float width, float height, float score, std::size_t label,
                      std::size_t row) {
  boxes_.push_back({centre_x - width / 2, centre_y - height / 2, centre_x + width / 2, centre_y + height / 2, score,
                    static_cast<int>(label), static_cast<std::uint32_t>(row)});
}

base::Result<void> YoloDecoder::take_final(const BoxTable& table) {
  const bool has_centre = layout_.task == YoloTask::obb;
  for (std::size_t i = 0; i < table.count; ++i) {
    const float* row = table.values.data() + i * table.channels;
    if (!(row[4] >= rules().score_threshold)) continue;
    RL_TRY_ASSIGN(const int label, class_number(row[5], rules().decoder));
    if (has_centre)
      add(row[0], row[1], row[2], row[3], row[4], static_cast<std::size_t>(label), i);
    else
      boxes_.push_back({row[0], row[1], row[2], row[3], row[4], label, static_cast<std::uint32_t>(i)});
  }
  return {};
}

void YoloDecoder::take_rows(const BoxTable& table) {
  const std::size_t first = layout_.first_class();
  for (std::size_t i = 0; i < table.count; ++i) {
    const float* row = table.values.data() + i * table.channels;
    const float objectness = first == 5 ? row[4] : 1.0F;
    if (objectness < rules().score_threshold) continue;
    const float* best = std::max_element(row + first, row + first + layout_.classes);
    const float score = objectness * *best;
    if (score >= rules().score_threshold)
      add(row[0], row[1], row[2], row[3], score, static_cast<std::size_t>(best - row) - first, i);
  }
}

/// Scores first, a class at a time over all boxes, which vectorizes; the class only of boxes that stay.
void YoloDecoder::take_columns(const BoxTable& table) {
  const std::size_t count = table.count;
  const float* values = table.values.data();
  const float* scores = values + 4 * count;
  best_.assign(scores, scores + count);
  for (std::size_t c = 1; c < layout_.classes; ++c) {
    const float* row = scores + c * count;
    float* best = best_.data();
    for (std::size_t i = 0; i < count; ++i) best[i] = best[i] < row[i] ? row[i] : best[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (best_[i] < rules().score_threshold) continue;
    std::size_t label = 0;
    while (scores[label * count + i] != best_[i]) ++label;
    add(values[i], values[count + i], values[2 * count + i], values[3 * count + i], best_[i], label, i);
  }
}

base::Result<void> YoloDecoder::take_grid(const BoxTable& table, const FrameGeometry& geometry) {
  const auto cells = cells_of(geometry.input_width, geometry.input_height);
  if (static_cast<std::int64_t>(table.count) != cells)
    return base::fail(base::ErrorCode::invalid_argument,
                      "decoder yolox: {} boxes: expected {}, one for each cell of an input of {}x{}", table.count,
                      cells, geometry.input_width, geometry.input_height);
  const float* row = table.values.data();
  std::size_t number = 0;
  for (const int stride : {8, 16, 32})
    for (int y = 0; y < geometry.input_height / stride; ++y)
      for (int x = 0; x < geometry.input_width / stride; ++x, row += table.channels, ++number) {
        if (row[4] < rules().score_threshold) continue;
        const float* best = std::max_element(row + 5, row + table.channels);
        const float score = row[4] * *best;
        if (score < rules().score_threshold) continue;
        const auto pixels = static_cast<float>(stride);
        add((row[0] + static_cast<float>(x)) * pixels, (row[1] + static_cast<float>(y)) * pixels,
            std::exp(row[2]) * pixels, std::exp(row[3]) * pixels, score, static_cast<std::size_t>(best - row) - 5,
            number);
      }
  return {};
}

base::Result<BoxTable> YoloDecoder::table_of(std::span<const OutputView> outputs) const {
  const bool in_columns = layout_.kind == YoloKind::columns;
  const auto channels = static_cast<std::int64_t>(layout_.channels);
  if (outputs.empty() || outputs[0].dims.size() != 2 || outputs[0].dims[in_columns ? 0 : 1] != channels)
    return base::fail(base::ErrorCode::invalid_argument, "decoder {}: {}: expected {}, {} values each", rules().decoder,
                      shapes_text(outputs), words_of(layout()), layout_.channels);
  RL_TRY(check_values(outputs[0]));
  return BoxTable{outputs[0].values, outputs[0].values.size() / layout_.channels, layout_.channels, in_columns};
}

base::Result<void> YoloDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  RL_TRY_ASSIGN(const auto table, table_of(outputs));
  const auto beside = layout_.beside();
  const auto begin = std::min(beside * table.channel_step(), table.values.size());
  angles_ = keypoints_ = {table.values.subspan(begin), table.box_step(), table.channel_step()};
  switch (layout_.kind) {
    case YoloKind::final: return take_final(table);
    case YoloKind::grid: return take_grid(table, geometry);
    case YoloKind::columns: take_columns(table); break;
    case YoloKind::rows:
    case YoloKind::rows_with_objectness: take_rows(table); break;
  }
  return {};
}

}  // namespace ridgeline::stream
