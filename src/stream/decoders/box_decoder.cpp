// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/box_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/non_max_suppression.hpp"
#include "stream/decoders/rotated_overlap.hpp"
#include "stream/decoders/rotated_rectangle.hpp"

namespace ridgeline::stream {

BoxDecoder::BoxDecoder(const BoxRules& rules, const DecoderOptions& options)
    : rules_(rules),
      labels_(options.labels),
      iou_threshold_(options.iou_threshold),
      max_boxes_(options.max_boxes),
      classes_(options.classes) {}

base::Result<void> BoxDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                      std::string& json) {
  boxes_.clear();
  quads_.clear();
  auto found = find_boxes(outputs, geometry);
  if (found) {
    choose();
    found = place(geometry);
  }
  if (!found) {
    boxes_.clear();
    quads_.clear();
    return found;
  }
  append(json, geometry);
  return {};
}

void BoxDecoder::choose() {
  if (!classes_.empty())
    std::erase_if(boxes_, [&](const FoundBox& box) {
      return std::find(classes_.begin(), classes_.end(), box.label) == classes_.end();
    });
  if (!rules_.suppresses) return keep_best(boxes_, max_boxes_);
  if (!rules_.has_angle) return suppress_overlaps(boxes_, iou_threshold_, max_boxes_);
  suppress_overlaps(boxes_, iou_threshold_, max_boxes_,
                    [&](const FoundBox& a, const FoundBox& b) { return overlap_ratio(turned(a), turned(b)); });
}

Quad BoxDecoder::turned(const FoundBox& box) const {
  RotatedRectangle rectangle;
  rectangle.width = static_cast<double>(box.right) - static_cast<double>(box.left);
  rectangle.height = static_cast<double>(box.bottom) - static_cast<double>(box.top);
  rectangle.centre = {(static_cast<double>(box.left) + static_cast<double>(box.right)) / 2,
                      (static_cast<double>(box.top) + static_cast<double>(box.bottom)) / 2};
  const auto angle = static_cast<double>(angles_.at(box.row, 0));
  rectangle.axis = {std::cos(angle), std::sin(angle)};
  return rectangle.corners();
}

base::Result<void> BoxDecoder::place(const FrameGeometry& geometry) {
  for (auto& box : boxes_) {
    RL_TRY(check_box(box, geometry, rules_.decoder));
    if (!rules_.has_angle) {
      move_to_frame(box, geometry);
      continue;
    }
    auto quad = turned(box);
    for (auto& corner : quad) corner = geometry.to_frame_within(corner.x, corner.y);
    const auto bounds = upright_box(quad);
    box = {bounds.left, bounds.top, bounds.right, bounds.bottom, box.score, box.label, box.row};
    quads_.push_back(quad);
  }
  return {};
}

void BoxDecoder::append(std::string& json, const FrameGeometry& geometry) const {
  json += R"({"boxes":[)";
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const auto& box = boxes_[i];
    json += i == 0 ? "{" : ",{";
    if (rules_.has_angle)
      append_quad(json, quads_[i]);
    else
      append_box(json, box);
    labels_.append(json, box.label);
    fmt::format_to(std::back_inserter(json), R"(,"class":{},"score":)", box.label);
    append_score(json, static_cast<double>(box.score));
    if (rules_.keypoints > 0) append_keypoints_of(box, json, geometry);
    json += '}';
  }
  json += "]}";
}

void BoxDecoder::append_keypoints_of(const FoundBox& box, std::string& json, const FrameGeometry& geometry) const {
  json += R"(,"keypoints":[)";
  for (std::size_t k = 0; k < rules_.keypoints; ++k) {
    const auto value = [&](std::size_t number) {
      return static_cast<double>(keypoints_.at(box.row, k * rules_.keypoint_values + number));
    };
    json += k == 0 ? R"({"point":)" : R"(,{"point":)";
    append_point(json, geometry.to_frame_within(value(0), value(1)));
    if (rules_.keypoint_values > 2) {
      json += R"(,"score":)";
      append_score(json, value(2));
    }
    json += '}';
  }
  json += ']';
}

}  // namespace ridgeline::stream
