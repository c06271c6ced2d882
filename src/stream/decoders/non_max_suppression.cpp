// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/non_max_suppression.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace ridgeline::stream {
namespace {

double area(const FoundBox& box) {
  return std::max(0.0, static_cast<double>(box.right) - static_cast<double>(box.left)) *
         std::max(0.0, static_cast<double>(box.bottom) - static_cast<double>(box.top));
}

/// Moves boxes that `is_wanted` to the front, best first, until there are `most`; the rest is erased.
template <typename IsWanted>
void take_best(std::vector<FoundBox>& boxes, std::size_t most, IsWanted is_wanted) {
  std::vector<std::uint32_t> heap(boxes.size());
  std::iota(heap.begin(), heap.end(), 0U);
  const auto is_worse = [&](std::uint32_t a, std::uint32_t b) {
    return boxes[a].score != boxes[b].score ? boxes[a].score < boxes[b].score : a > b;
  };
  std::make_heap(heap.begin(), heap.end(), is_worse);
  std::vector<FoundBox> kept;
  kept.reserve(std::min(most, boxes.size()));
  while (!heap.empty() && kept.size() < most) {
    std::pop_heap(heap.begin(), heap.end(), is_worse);
    const auto& box = boxes[heap.back()];
    heap.pop_back();
    if (is_wanted(box, kept)) kept.push_back(box);
  }
  boxes = std::move(kept);
}

}  // namespace

double overlap_ratio(const FoundBox& a, const FoundBox& b) noexcept {
  const FoundBox common{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                        std::min(a.bottom, b.bottom)};
  const double both = area(common);
  const double all = area(a) + area(b) - both;
  return all > 0 ? both / all : 0;
}

void suppress_overlaps(std::vector<FoundBox>& boxes, double iou_threshold, std::size_t most) {
  take_best(boxes, most, [&](const FoundBox& box, const std::vector<FoundBox>& kept) {
    return std::none_of(kept.begin(), kept.end(), [&](const FoundBox& better) {
      return better.label == box.label && overlap_ratio(better, box) > iou_threshold;
    });
  });
}

void suppress_overlaps(std::vector<FoundBox>& boxes, double iou_threshold, std::size_t most,
                       const std::function<double(const FoundBox&, const FoundBox&)>& overlap) {
  take_best(boxes, most, [&](const FoundBox& box, const std::vector<FoundBox>& kept) {
    return std::none_of(kept.begin(), kept.end(), [&](const FoundBox& better) {
      return better.label == box.label && overlap(better, box) > iou_threshold;
    });
  });
}

void keep_best(std::vector<FoundBox>& boxes, std::size_t most) {
  take_best(boxes, most, [](const FoundBox&, const std::vector<FoundBox>&) { return true; });
}

}  // namespace ridgeline::stream
