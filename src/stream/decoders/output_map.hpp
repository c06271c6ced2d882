// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stream/preprocess_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Why maps (KxHxW) are no heights of keypoints, one map each, for people; nullopt: they may be. A keypoint's map is
/// about 0 but for a small peak of 1 or less; maps of classes cover regions, or give each pixel a distribution.
[[nodiscard]] std::optional<schema::Message> peak_mismatch(const OutputView& maps, bool named);

/// Why a map (1xHxW or HxW) is none of probabilities; nullopt: it may be.
[[nodiscard]] std::optional<schema::Message> probability_mismatch(const OutputView& map);

/// Whether the outputs are those of a semantic segmentation: a value for each class and pixel (CxHxW, HxWxC), or each
/// pixel's class (HxW, 1xHxW of whole numbers), where the map has the input's ratio of sides and at most its size.
[[nodiscard]] bool looks_like_segmentation(std::span<const OutputView> outputs, const FrameGeometry& geometry);

}  // namespace ridgeline::stream
