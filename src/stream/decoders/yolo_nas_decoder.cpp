// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/yolo_nas_decoder.hpp"

#include <algorithm>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/detr_decoder.hpp"
#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

base::Fault nas_fault(const std::string& shapes) {
  return base::fail(base::ErrorCode::invalid_argument, "decoder yolo-nas: {}: expected boxes of Nx4 and scores of NxC",
                    shapes);
}

}  // namespace

base::Result<std::unique_ptr<ResultDecoder>> YoloNasDecoder::make(const DecoderOptions& options,
                                                                  std::span<const OutputShape> outputs) {
  RL_TRY(check_box_options(options));
  // The same two outputs as those of a transformer, with other values.
  const auto places = outputs.size() == 2 ? find_detr_outputs(outputs) : std::nullopt;
  if (!places) return nas_fault(shapes_text(outputs));
  const auto classes = outputs[places->scores].dims[1];
  const auto names = static_cast<std::int64_t>(options.labels.size());
  if (names > 0 && classes >= 0 && classes != names)
    return base::fail(base::ErrorCode::invalid_argument,
                      "decoder yolo-nas: {}: expected {} classes as there are labels", shapes_text(outputs), names);
  return std::unique_ptr<ResultDecoder>(new YoloNasDecoder(options, places->boxes));
}

YoloNasDecoder::YoloNasDecoder(const DecoderOptions& options, std::size_t boxes)
    : BoxDecoder({.decoder = "yolo-nas",
                  .score_threshold = static_cast<float>(options.score_threshold.value_or(0.25)),
                  .suppresses = true},
                 options),
      boxes_at_(boxes) {}

schema::Message YoloNasDecoder::layout() const { return messages::layout_yolo_nas(); }

base::Result<YoloNasDecoder::Tables> YoloNasDecoder::tables_of(std::span<const OutputView> outputs) const {
  if (outputs.size() != 2) return nas_fault(shapes_text(outputs));
  for (const auto& output : outputs) RL_TRY(check_values(output));
  const auto& boxes = outputs[boxes_at_];
  const auto& scores = outputs[1 - boxes_at_];
  if (boxes.dims.size() != 2 || boxes.dims[1] != 4 || scores.dims.size() != 2 || scores.dims[0] != boxes.dims[0] ||
      scores.dims[1] < 1)
    return nas_fault(shapes_text(outputs));
  const auto count = static_cast<std::size_t>(boxes.dims[0]);
  return Tables{{boxes.values, count, 4, false},
                {scores.values, count, static_cast<std::size_t>(scores.dims[1]), false}};
}

base::Result<void> YoloNasDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& /*geometry*/) {
  RL_TRY_ASSIGN(const auto tables, tables_of(outputs));
  const auto classes = tables.scores.channels;
  for (std::size_t i = 0; i < tables.scores.count; ++i) {
    const float* row = tables.scores.values.data() + i * classes;
    const float* best = std::max_element(row, row + classes);
    if (!(*best >= rules().score_threshold)) continue;
    const float* box = tables.boxes.values.data() + 4 * i;
    boxes_.push_back({box[0], box[1], box[2], box[3], *best, static_cast<int>(best - row)});
  }
  return {};
}

std::optional<schema::Message> YoloNasDecoder::mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const {
  const auto tables = tables_of(outputs);
  if (!tables) return messages::wrong_outputs(tables.error().message);
  if (auto score = score_mismatch(tables->scores, 0, tables->scores.channels, named)) return score;
  BoxCheck check(geometry);
  for (std::size_t i = 0; i < tables->boxes.count; ++i) {
    const auto value = [&](std::size_t channel) { return tables->boxes.at(i, channel); };
    const auto scores = tables->scores.values.subspan(i * tables->scores.channels, tables->scores.channels);
    check.add({value(0), value(1), value(2), value(3)}, *std::max_element(scores.begin(), scores.end()) >= kScoredBox);
  }
  if (auto wrong = check.mismatch()) return wrong;
  if (!named && !check.has_boxes()) return messages::no_box_size();
  return std::nullopt;
}

}  // namespace ridgeline::stream
