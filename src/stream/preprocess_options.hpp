// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "stream/point.hpp"

namespace ridgeline::stream {

enum class Resize {
  automatic,  ///< stretch for a model of any size, letterbox where a side of its input is fixed
  stretch,    ///< to the input's size, whatever the sides' ratio
  letterbox,  ///< evenly, the rest in one colour
};

/// Where a letterbox has the frame.
enum class Align { center, top_left };

enum class TensorLayout { nchw, nhwc };

enum class ChannelOrder {
  rgb,
  bgr,
  gray,  ///< one channel: 0.299 R + 0.587 G + 0.114 B
};

/// What happens to a frame before the model (section `stream: preprocess:`). A model of bytes takes pixel values from 0
/// to 255 as they are: mean, deviation and pixel_scale are for float models.
struct PreprocessOptions {
  double scale = 1;  ///< inference_scale, above 0 up to 4: of the frame's sides
  int stride = 32;   ///< sides of a model of any size are multiples of it; 1 to 1024
  Resize resize = Resize::automatic;
  Align align = Align::center;                ///< of a letterbox
  std::uint8_t border = 114;                  ///< of a letterbox, in all channels
  std::array<float, 3> mean{0, 0, 0};         ///< of pixel values from 0 to 1, in the model's channel order
  std::array<float, 3> deviation{1, 1, 1};    ///< "std"; above 0
  float pixel_scale = 1.0F / 255;             ///< a pixel's 0 to 255 times this, before mean and deviation
  ChannelOrder channels = ChannelOrder::rgb;  ///< that the model takes
  TensorLayout layout = TensorLayout::nchw;
};

/// Where a picture lies in the frame that it was cut from.
struct CropPlace {
  Point origin{};      ///< of its upper left corner
  Point across{1, 0};  ///< that one of its pixels goes to the right
  Point down{0, 1};
  int frame_width = 0;
  int frame_height = 0;

  friend bool operator==(const CropPlace&, const CropPlace&) = default;
};

/// How a frame lies in the model's input: x_input = x_frame * scale_x + offset_x, the same for y.
struct FrameGeometry {
  int frame_width = 0;
  int frame_height = 0;
  int input_width = 0;
  int input_height = 0;
  double scale_x = 1;
  double scale_y = 1;
  double offset_x = 0;  ///< whole pixels of border
  double offset_y = 0;
  /// The frame is brought to this size first: inference_scale where the input is fixed. 0: it is not.
  int detail_width = 0;
  int detail_height = 0;

  /// Set where the "frame" was cut out of another, in whose pixels results are told.
  std::optional<CropPlace> crop{};

  /// Sides of the frame in the input, whole pixels.
  [[nodiscard]] int content_width() const noexcept { return static_cast<int>(std::lround(scale_x * frame_width)); }
  [[nodiscard]] int content_height() const noexcept { return static_cast<int>(std::lround(scale_y * frame_height)); }

  /// Where a place of the input is in the frame.
  [[nodiscard]] Point to_frame(double x_input, double y_input) const noexcept {
    const double x = (x_input - offset_x) / scale_x;
    const double y = (y_input - offset_y) / scale_y;
    return crop ? crop->origin + crop->across * x + crop->down * y : Point{x, y};
  }
  /// The same, moved into the frame.
  [[nodiscard]] Point to_frame_within(double x_input, double y_input) const noexcept {
    const auto place = to_frame(x_input, y_input);
    return {std::clamp(place.x, 0.0, static_cast<double>(crop ? crop->frame_width : frame_width)),
            std::clamp(place.y, 0.0, static_cast<double>(crop ? crop->frame_height : frame_height))};
  }

  friend bool operator==(const FrameGeometry&, const FrameGeometry&) = default;
};

}  // namespace ridgeline::stream
