// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace ridgeline::stream {

enum class Resize {
  stretch,    ///< to the input's size, whatever the sides' ratio
  letterbox,  ///< evenly, centred, the rest in one colour
};

enum class TensorLayout { nchw, nhwc };

enum class ChannelOrder { rgb, bgr };

/// What happens to a frame before the model (section `stream: preprocess:`).
struct PreprocessOptions {
  double scale = 1;  ///< inference_scale, above 0 up to 4: of the frame's sides, for a model of any size
  int stride = 32;   ///< sides of a model of any size are multiples of it
  Resize resize = Resize::stretch;
  std::uint8_t border = 114;                  ///< of a letterbox, in all channels
  std::array<float, 3> mean{0, 0, 0};         ///< of pixel values from 0 to 1, in the model's channel order
  std::array<float, 3> deviation{1, 1, 1};    ///< "std"
  float pixel_scale = 1.0F / 255;             ///< a pixel's 0 to 255 times this, before mean and deviation
  ChannelOrder channels = ChannelOrder::rgb;  ///< that the model takes
  TensorLayout layout = TensorLayout::nchw;
};

/// How a frame lies in the model's input: x_input = x_frame * scale_x + offset_x, the same for y.
struct FrameGeometry {
  int frame_width = 0;
  int frame_height = 0;
  int input_width = 0;
  int input_height = 0;
  double scale_x = 1;
  double scale_y = 1;
  double offset_x = 0;
  double offset_y = 0;
};

}  // namespace ridgeline::stream
