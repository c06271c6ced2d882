// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Intersection over union, 0 to 1; 0 where both are empty.
[[nodiscard]] double overlap_ratio(const FoundBox& a, const FoundBox& b) noexcept;

/// Keeps the best boxes, in order of their score: greedily, each unless it overlaps a better one of its class by more
/// than `iou_threshold`; at most `most`. Of equal scores the earlier one is better. Boxes are taken from a heap and
/// only as long as there is room: O(boxes + taken * (log boxes + most)).
void suppress_overlaps(std::vector<FoundBox>& boxes, double iou_threshold, std::size_t most);

/// The same with another measure of how much two boxes overlap.
void suppress_overlaps(std::vector<FoundBox>& boxes, double iou_threshold, std::size_t most,
                       const std::function<double(const FoundBox&, const FoundBox&)>& overlap);

/// The best `most` without suppression, in order of their score.
void keep_best(std::vector<FoundBox>& boxes, std::size_t most);

}  // namespace ridgeline::stream
