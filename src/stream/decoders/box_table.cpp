// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/box_table.hpp"

#include <cmath>

namespace ridgeline::stream {
namespace {

constexpr float kLowestScore = -0.01F;
constexpr std::size_t kFewBoxes = 50;  // of so few a class may well have most
constexpr float kLeastSide = 2;        // pixels; coordinates from 0 to 1 give less
constexpr float kMostSides = 4;        // of the input's

}  // namespace

ValueRange BoxTable::range(std::size_t first_channel, std::size_t channels_of_it) const noexcept {
  ValueRange out;
  for (std::size_t box = 0; box < count; ++box)
    for (std::size_t c = first_channel; c < first_channel + channels_of_it; ++c) out.add(at(box, c));
  return out;
}

std::optional<schema::Message> score_mismatch(ValueRange scores) {
  if (scores.empty() || (scores.low >= kLowestScore && scores.high <= kHighestScore)) return std::nullopt;
  return messages::wrong_score(static_cast<double>(scores.low < kLowestScore ? scores.low : scores.high));
}

std::optional<schema::Message> score_mismatch(const BoxTable& table, std::size_t first_channel, std::size_t channels,
                                              bool named) {
  if (auto outside = score_mismatch(table.range(first_channel, channels))) return outside;
  if (named || table.count < kFewBoxes) return std::nullopt;
  for (std::size_t c = first_channel; c < first_channel + channels; ++c) {
    std::size_t firing = 0;
    for (std::size_t box = 0; box < table.count; ++box) firing += table.at(box, c) > kScoredBox ? 1 : 0;
    if (2 * firing > table.count)
      return messages::wrong_class_value(
          {.value = static_cast<std::int64_t>(c),
           .boxes = static_cast<double>(100 * firing / table.count) / 100,  // rounded down: it may not be all
           .limit = static_cast<double>(kScoredBox)});
  }
  return std::nullopt;
}

bool is_far_outside(const FoundBox& box, const FrameGeometry& geometry) noexcept {
  const auto width = static_cast<float>(geometry.input_width);
  const auto height = static_cast<float>(geometry.input_height);
  return !(box.right >= -width && box.left <= 2 * width && box.bottom >= -height && box.top <= 2 * height &&
           box.right - box.left <= kMostSides * width && box.bottom - box.top <= kMostSides * height);
}

void BoxCheck::add(const FoundBox& box, bool is_scored) {
  const float width = box.right - box.left;
  const float height = box.bottom - box.top;
  scored_ += is_scored ? 1 : 0;
  if (width != 0 || height != 0) ++sized_;
  const bool is_large = width >= kLeastSide || height >= kLeastSide;
  large_ += is_large ? 1 : 0;
  large_scored_ += is_large && is_scored ? 1 : 0;
  if (!(width >= 0 && height >= 0) && (is_scored || !reversed_)) reversed_ = box;
  if (is_scored && is_far_outside(box, geometry_)) outside_ = box;
}

std::optional<schema::Message> BoxCheck::mismatch() const {
  if (reversed_)
    return messages::wrong_box_corners({.left = static_cast<double>(reversed_->left),
                                        .top = static_cast<double>(reversed_->top),
                                        .right = static_cast<double>(reversed_->right),
                                        .bottom = static_cast<double>(reversed_->bottom)});
  if (outside_)
    return messages::wrong_box_place({.left = static_cast<double>(outside_->left),
                                      .top = static_cast<double>(outside_->top),
                                      .right = static_cast<double>(outside_->right),
                                      .bottom = static_cast<double>(outside_->bottom),
                                      .width = geometry_.input_width,
                                      .height = geometry_.input_height});
  if (sized_ > 0 && (scored_ > 0 ? large_scored_ : large_) == 0)
    return messages::wrong_box_sides(static_cast<double>(kLeastSide));
  return std::nullopt;
}

}  // namespace ridgeline::stream
