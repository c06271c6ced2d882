// SPDX-License-Identifier: Apache-2.0
// What the values of a first frame say about the layout that a YOLO decoder takes them for.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/yolo_decoder.hpp"

namespace ridgeline::stream {
namespace {

/// Of an offset in cells and of a side's logarithm: exp of it is more than any picture has.
constexpr float kMostInGrid = 40;
constexpr float kMostLogarithm = 12;
constexpr float kFarthestKeypoint = 3;  // inputs
constexpr float kLowestAngle = -std::numbers::pi_v<float> / 2 - 0.01F;
constexpr float kHighestAngle = std::numbers::pi_v<float> + 0.01F;
constexpr float kSomeAngle = 0.02F;  // radians, about a degree; classes that are not the best score less, mostly
constexpr std::size_t kMostFinalRows = 1000;

FoundBox around(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

float best_score(const BoxTable& table, std::size_t box, const YoloLayout& layout) {
  float best = 0;
  for (std::size_t c = 0; c < layout.classes; ++c) best = std::max(best, table.at(box, layout.first_class() + c));
  return layout.first_class() == 5 ? best * table.at(box, 4) : best;
}

/// Whether the last of several classes may be an angle: of every box in which another class scores it has the second
/// most, or the background has it too.
bool last_may_be_angle(const BoxTable& table, const YoloLayout& layout) {
  const auto first = layout.first_class();
  const auto last = first + layout.classes - 1;
  const float least = layout.classes > 2 ? kSomeAngle : kScoredBox;  // of two classes one is always the second
  std::size_t scored = 0;
  std::size_t turned = 0;
  std::size_t everywhere = 0;
  for (std::size_t box = 0; box < table.count; ++box) {
    const float angle = table.at(box, last);
    everywhere += angle > kSomeAngle ? 1 : 0;
    float best = 0;
    float second = 0;
    for (std::size_t c = first; c < last; ++c) {
      const float score = table.at(box, c);
      second = std::max(second, std::min(best, score));
      best = std::max(best, score);
    }
    if (best < kScoredBox) continue;
    ++scored;
    turned += angle >= least && angle >= second ? 1 : 0;
  }
  return (scored > 0 && turned == scored) || 2 * everywhere > table.count;
}

/// Rows of centre, size, score, class and angle, as models that suppress on their own give them.
bool has_whole_classes(const BoxTable& table) {
  for (std::size_t box = 0; box < table.count; ++box)
    if (table.at(box, 5) != std::round(table.at(box, 5))) return false;
  return table.channels == 7 && table.count <= kMostFinalRows;
}

}  // namespace

std::optional<schema::Message> YoloDecoder::grid_mismatch(const BoxTable& table, const FrameGeometry& geometry) const {
  const auto cells = static_cast<std::size_t>(cells_of(geometry.input_width, geometry.input_height));
  if (table.count != cells)
    return messages::wrong_box_count(
        {.boxes = static_cast<std::int64_t>(table.count), .cells = static_cast<std::int64_t>(cells)});
  std::size_t large = 0;
  for (std::size_t box = 0; box < table.count; ++box) {
    const bool is_scored = best_score(table, box, layout_) >= kScoredBox;
    for (std::size_t c = 0; c < 4; ++c) {
      const float value = std::abs(table.at(box, c));
      if (is_scored && value > (c < 2 ? kMostInGrid : kMostLogarithm))
        return messages::wrong_grid_value(static_cast<double>(table.at(box, c)));
      if (value > kMostInGrid) {
        ++large;
        break;
      }
    }
  }
  if (100 * large > table.count)
    return messages::boxes_in_pixels(
        {.boxes = static_cast<std::int64_t>(large), .all = static_cast<std::int64_t>(table.count)});
  return std::nullopt;
}

std::optional<schema::Message> YoloDecoder::final_mismatch(const BoxTable& table, const FrameGeometry& geometry) const {
  BoxCheck check(geometry);
  for (std::size_t box = 0; box < table.count; ++box) {
    const float score = table.at(box, 4);
    const float label = table.at(box, 5);
    if (std::abs(label - std::round(label)) > 0.01F || label < -1)
      return messages::wrong_class(static_cast<double>(label));
    if (score == 0) continue;
    const auto value = [&](std::size_t channel) { return table.at(box, channel); };
    check.add(layout_.task == YoloTask::obb ? around(value(0), value(1), value(2), value(3))
                                            : FoundBox{value(0), value(1), value(2), value(3)},
              score >= kScoredBox);
  }
  return check.mismatch();
}

std::optional<schema::Message> YoloDecoder::beside_mismatch(const BoxTable& table, const FrameGeometry& geometry,
                                                            bool named) const {
  const auto first = layout_.beside();
  if (layout_.task == YoloTask::obb) {
    const auto angles = table.range(first, 1);
    if (!angles.empty() && (angles.low < kLowestAngle || angles.high > kHighestAngle))
      return messages::wrong_angle(static_cast<double>(angles.low < kLowestAngle ? angles.low : angles.high));
    // The last of many classes is an angle too, as far as its range goes.
    if (!named && !knows_task_ && layout_.kind != YoloKind::final && !score_mismatch(table, first, 1, false))
      return messages::last_may_be_score();
  }
  if (layout_.task != YoloTask::pose) return std::nullopt;
  const auto& [count, values] = layout_.keypoints;
  ValueRange places;
  for (std::size_t k = 0; k < count; ++k) {
    const auto here = first + k * values;
    const auto across = table.range(here, 1);
    const auto down = table.range(here + 1, 1);
    for (const auto& [range, side] :
         {std::pair(across, geometry.input_width), std::pair(down, geometry.input_height)}) {
      if (range.empty()) continue;
      const auto far = kFarthestKeypoint * static_cast<float>(side);
      if (range.low < -far || range.high > far)
        return messages::wrong_keypoint(static_cast<double>(range.low < -far ? range.low : range.high));
      places.add(range.low);
      places.add(range.high);
    }
    if (values < 3) continue;
    if (auto score = score_mismatch(table.range(here + 2, 1))) return messages::wrong_keypoint_score(*score);
  }
  if (!named && !places.empty() && places.low >= 0 && places.high <= 1) return messages::keypoints_in_one_pixel();
  return std::nullopt;
}

std::optional<schema::Message> YoloDecoder::mismatch(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                                     bool named) const {
  const auto table = table_of(outputs);
  if (!table) return messages::wrong_outputs(table.error().message);
  const bool is_final = layout_.kind == YoloKind::final;
  const bool has_objectness = layout_.first_class() == 5;
  if (is_final) {
    if (auto score = score_mismatch(table->range(4, 1))) return score;
    if (auto wrong = final_mismatch(*table, geometry)) return wrong;
    return beside_mismatch(*table, geometry, named);
  }
  if (has_objectness) {
    if (auto score = score_mismatch(*table, 4, 1, named)) return score;
  }
  // A class's score counts only where there is an object.
  if (auto score = score_mismatch(*table, layout_.first_class(), layout_.classes, named || has_objectness))
    return score;
  if (layout_.kind == YoloKind::grid) return grid_mismatch(*table, geometry);
  if (!named && !knows_classes_ && layout_.task == YoloTask::detect) {
    const bool is_final_obb = layout_.kind == YoloKind::rows_with_objectness && has_whole_classes(*table);
    if (is_final_obb ||
        (!has_objectness && layout_.masks == 0 && layout_.classes > 1 && last_may_be_angle(*table, layout_)))
      return messages::last_may_be_angle();
  }
  BoxCheck check(geometry);
  for (std::size_t box = 0; box < table->count; ++box)
    check.add(around(table->at(box, 0), table->at(box, 1), table->at(box, 2), table->at(box, 3)),
              best_score(*table, box, layout_) >= kScoredBox);
  if (auto wrong = check.mismatch()) return wrong;
  if (!named && !check.has_boxes()) return messages::no_box_size();
  const auto cells = cells_of(geometry.input_width, geometry.input_height);
  if (layout_.kind == YoloKind::rows_with_objectness && static_cast<std::int64_t>(table->count) == cells &&
      check.has_boxes() && !grid_mismatch(*table, geometry))
    return messages::boxes_in_grid();
  return beside_mismatch(*table, geometry, named);
}

}  // namespace ridgeline::stream
