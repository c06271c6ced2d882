// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/box_checks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stream/decoders/box_table.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMostBoxes = 10'000;  // each is compared with all that were kept
constexpr float kHighestClass = 1e6F;
constexpr auto* kOtherHint = "the outputs mean something else: --stream decoder=auto says what they look like";

}  // namespace

base::Result<void> check_box_options(const DecoderOptions& options) {
  if (options.score_threshold && !(*options.score_threshold >= 0 && *options.score_threshold <= 1))
    return fail(ErrorCode::invalid_argument, "score_threshold {} is outside 0..1", *options.score_threshold);
  if (!(options.iou_threshold >= 0 && options.iou_threshold <= 1))
    return fail(ErrorCode::invalid_argument, "iou_threshold {} is outside 0..1", options.iou_threshold);
  if (options.max_boxes < 1 || options.max_boxes > kMostBoxes)
    return fail(ErrorCode::invalid_argument, "max_boxes {} is outside 1..{}", options.max_boxes, kMostBoxes);
  return {};
}

base::Result<int> class_number(float value, std::string_view decoder) {
  if (!(value >= 0 && value <= kHighestClass))
    return fail(ErrorCode::invalid_argument, "decoder {}: class {}: expected a number from 0", decoder, value);
  return static_cast<int>(std::lround(value));
}

FoundBox upright_box(const Quad& corners) {
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  return {static_cast<float>(left), static_cast<float>(top), static_cast<float>(right), static_cast<float>(bottom)};
}

base::Result<void> check_box(const FoundBox& box, const FrameGeometry& geometry, std::string_view decoder) {
  const auto refuse = [&](std::string_view expected) {
    return fail(ErrorCode::invalid_argument, "decoder {}: a box of {},{},{},{}: expected {}", decoder, box.left,
                box.top, box.right, box.bottom, expected);
  };
  if (!std::isfinite(box.left + box.top + box.right + box.bottom)) return refuse("numbers");
  if (box.score > kHighestScore)
    return fail(ErrorCode::invalid_argument, "decoder {}: a score of {:.4g}: expected 0 to 1", decoder, box.score)
        .hint("{}", kOtherHint);
  if (box.right < box.left || box.bottom < box.top) return refuse("corners in order").hint("{}", kOtherHint);
  if (is_far_outside(box, geometry))
    return refuse(fmt::format("pixels of an input of {}x{}", geometry.input_width, geometry.input_height))
        .hint("{}", kOtherHint);
  return {};
}

void move_to_frame(FoundBox& box, const FrameGeometry& geometry) {
  const auto corner = [&](float x, float y) {
    return geometry.to_frame_within(static_cast<double>(x), static_cast<double>(y));
  };
  // What is upright in a crop need not be in the frame.
  const Quad corners{corner(box.left, box.top), corner(box.right, box.top), corner(box.right, box.bottom),
                     corner(box.left, box.bottom)};
  const auto bounds = upright_box(corners);
  box.left = bounds.left;
  box.top = bounds.top;
  box.right = bounds.right;
  box.bottom = bounds.bottom;
}

}  // namespace ridgeline::stream
