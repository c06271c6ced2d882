// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// invalid_argument where a threshold is outside 0 to 1, or max_boxes outside 1 to 10000.
[[nodiscard]] base::Result<void> check_box_options(const DecoderOptions& options);

/// A class that a model tells as a float. Errors: invalid_argument (below 0, above 10^6, no number).
[[nodiscard]] base::Result<int> class_number(float value, std::string_view decoder);

/// Around these corners.
[[nodiscard]] FoundBox upright_box(const Quad& corners);

/// invalid_argument where a box in pixels of the input is none: a coordinate that is infinite, corners that are not in
/// order, a place far outside the input, a score above 1 (logits that were taken for scores); naming `decoder`.
[[nodiscard]] base::Result<void> check_box(const FoundBox& box, const FrameGeometry& geometry,
                                           std::string_view decoder);

/// From pixels of the input to those of the frame, cut to the frame.
void move_to_frame(FoundBox& box, const FrameGeometry& geometry);

}  // namespace ridgeline::stream
