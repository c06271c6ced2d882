// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/box_checks.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMostBoxes = 10'000;  // each is compared with all that were kept
constexpr float kHighestClass = 1e6F;
constexpr float kHighestScore = 1.01F;  // half precision rounds up

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

base::Result<void> move_to_frame(std::vector<FoundBox>& boxes, const FrameGeometry& geometry,
                                 std::string_view decoder) {
  const auto move_x = [&](float x) {
    return static_cast<float>(
        std::clamp(geometry.to_frame_x(static_cast<double>(x)), 0.0, static_cast<double>(geometry.frame_width)));
  };
  const auto move_y = [&](float y) {
    return static_cast<float>(
        std::clamp(geometry.to_frame_y(static_cast<double>(y)), 0.0, static_cast<double>(geometry.frame_height)));
  };
  for (auto& box : boxes) {
    if (!std::isfinite(box.left + box.top + box.right + box.bottom))
      return fail(ErrorCode::invalid_argument, "decoder {}: a box of {},{},{},{}: expected numbers", decoder, box.left,
                  box.top, box.right, box.bottom);
    if (box.score > kHighestScore)
      return fail(ErrorCode::invalid_argument, "decoder {}: a score of {:.4g}: expected 0 to 1", decoder, box.score);
    box.left = move_x(box.left);
    box.top = move_y(box.top);
    box.right = move_x(box.right);
    box.bottom = move_y(box.bottom);
  }
  return {};
}

}  // namespace ridgeline::stream
