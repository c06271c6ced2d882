// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "ffmpeg.hpp"
#include "orientation.hpp"

namespace ridgeline::video_plugin {

/// Turns decoded frames into packed pictures, and such pictures into frames to encode.
class Converter {
 public:
  /// `pixels`: rl_video_pixels. Throws Refusal: an unknown format, a buffer of another size than the picture.
  void convert(const AVFrame& frame, std::int32_t pixels, Orientation orientation, std::uint8_t* bytes,
               std::size_t size);
  /// From BGR24 of the frame's size into its format.
  void fill(AVFrame& frame, const std::uint8_t* bgr24);

 private:
  void scale(const std::uint8_t* const* from, const int* from_strides, AVPixelFormat from_format,
             std::uint8_t* const* to, const int* to_strides, AVPixelFormat to_format, int width, int height);

  void turn(const AVFrame& rows, Orientation orientation, std::uint8_t* bytes) const;

  /// A picture whose rows end with padding; kept for the next one of that size.
  AVFrame& padded(AVPixelFormat format, int width, int height);

  Owned<SwsContext> scaler_;
  Owned<AVFrame> padded_;
};

}  // namespace ridgeline::video_plugin
