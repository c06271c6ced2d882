// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stream/image.hpp"
#include "stream/preprocess_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// A part of a frame that is cut out, at any angle.
struct CropArea {
  CropPlace place;
  int width = 1;  ///< of the crop
  int height = 1;
  bool is_upright = false;  ///< of whole pixels that are all in the frame
};

/// The whole pixels that an upright box touches, grown on each side by `margin` of its own sides and cut to the frame.
[[nodiscard]] CropArea area_around(const FoundBox& box, double margin, int frame_width, int frame_height);

/// The same for a box at an angle, which is not cut: what is outside repeats the frame's edge. One that is 1.5 times as
/// high as wide is turned to the left, as PaddleOCR does with lines of text.
[[nodiscard]] CropArea area_around(const Quad& quad, double margin, int frame_width, int frame_height);

/// Cuts it out, bilinearly where it is not upright; bgr24, rgb24 and gray8.
void cut(const Image& frame, const CropArea& area, Image& crop);

}  // namespace ridgeline::stream
