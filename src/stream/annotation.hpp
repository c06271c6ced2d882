// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "stream/canvas.hpp"

namespace ridgeline::stream {

/// Where a frame's pixels are on a canvas: x_canvas = x_frame * scale + x.
struct CanvasPlace {
  double scale = 1;
  double x = 0;
  double y = 0;
};

/// Draws what a decoder found: boxes and their names, quadrangles, keypoints, and what a second model found in the
/// boxes. Other results, and text that is no JSON, draw nothing.
void draw_result(Canvas& canvas, std::string_view json, const CanvasPlace& place);

/// Says on the picture that it has no result, and why.
void draw_gap(Canvas& canvas, std::string_view reason);

}  // namespace ridgeline::stream
