// SPDX-License-Identifier: Apache-2.0
#include "stream/crop_stage.hpp"

#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "stream/bgr_picture.hpp"
#include "stream/crop_results.hpp"
#include "stream/size_change.hpp"

namespace ridgeline::stream {

std::vector<std::uint32_t> warm_batch_sizes(std::uint32_t largest) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size < largest; size *= 2) sizes.push_back(size);
  sizes.push_back(largest);
  return sizes;
}

base::Result<void> CropStage::warm(const Image& crop) {
  std::vector<WarmUpTimes> repeated;
  std::vector<WarmUpTimes> changed;
  const auto sizes = warm_batch_sizes(options_.batch_size);
  const auto time_one = [&](std::uint32_t size, std::vector<WarmUpTimes>& times) -> base::Result<void> {
    const CropPlace place{.frame_width = crop.width, .frame_height = crop.height};
    const std::vector<BatchFrame> crops(size, {.image = &crop, .is_sample = true, .crop = &place});
    texts_.resize(size);
    const auto begun = base::system_clock().now();
    RL_TRY(model_(crops, size, texts_));
    times.push_back({size, {(base::system_clock().now() - begun).count()}});
    return {};
  };
  std::vector<WarmUpTimes> first;
  for (const auto size : sizes) {
    RL_TRY(time_one(size, first));
    RL_TRY(time_one(size, repeated));
  }
  if (sizes.size() < 2) return {};
  for (const auto size : sizes) RL_TRY(time_one(size, changed));
  has_one_size_ = size_change_cost(repeated, changed).has_value();
  return {};
}

base::Result<void> CropStage::run(std::span<const BatchFrame> frames, std::span<const FoundBoxes> found,
                                  std::span<std::string> results) {
  cut_all(frames, found);
  texts_.resize(crops_.size());
  for (std::size_t begin = 0; begin < crops_.size(); begin += options_.batch_size) {
    const auto count = std::min<std::size_t>(options_.batch_size, crops_.size() - begin);
    RL_TRY(
        model_(std::span(crops_).subspan(begin, count), executed_size(count), std::span(texts_).subspan(begin, count)));
  }
  std::span<const std::string> left = texts_;
  for (std::size_t i = 0; i < frames.size() && !left.empty(); ++i) {
    const auto count = std::min(found[i].boxes.size(), options_.most);
    if (count > 0) results[i] = with_crops(results[i], left.first(count));
    left = left.subspan(count);
  }
  return {};
}

void CropStage::cut_all(std::span<const BatchFrame> frames, std::span<const FoundBoxes> found) {
  used_ = 0;
  crops_.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& [boxes, quads] = found[i];
    const auto count = std::min(boxes.size(), options_.most);
    if (count == 0) continue;
    const Image* frame = frames[i].image;
    std::optional<BgrPicture> converted;
    if (frame->format == PixelFormat::nv12) {
      converted.emplace(frame->width, frame->height);
      (void)converted->take(*frame);
      frame = &converted->image();
    }
    for (std::size_t box = 0; box < count; ++box) {
      if (used_ == cut_.size()) cut_.emplace_back();
      auto& crop = cut_[used_++];
      crop.area = quads.empty() ? area_around(boxes[box], options_.margin, frame->width, frame->height)
                                : area_around(quads[box], options_.margin, frame->width, frame->height);
      cut(*frame, crop.area, crop.image);
      crops_.push_back({.image = &crop.image,
                        .source = frames[i].source,
                        .sequence = frames[i].sequence,
                        .is_sample = frames[i].is_sample,
                        .crop = &crop.area.place});
    }
  }
}

std::uint32_t CropStage::executed_size(std::size_t crops) const {
  const auto size = static_cast<std::uint32_t>(crops);
  if (has_one_size_) return options_.batch_size;
  if (!options_.pads) return size;
  for (const auto warmed : warm_batch_sizes(options_.batch_size))
    if (warmed >= size) return warmed;
  return size;
}

}  // namespace ridgeline::stream
