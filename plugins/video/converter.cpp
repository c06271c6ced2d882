// SPDX-License-Identifier: Apache-2.0
// Colours are those of OpenCV's VideoCapture: the matrix of BT.601 whatever the stream says, because that is what the
// pictures looked like that most models were trained on and what users compare with.
#include "converter.hpp"

#include <array>
#include <new>
#include <string>
#include <utility>

#include "errors.hpp"

namespace ridgeline::video_plugin {
namespace {

// libswscale's fast paths read and write whole vectors: rows without padding are safe only where they are multiples.
constexpr int kRowBytes = 32;
constexpr int kPaddedAlignment = 64;

AVPixelFormat format_of(std::int32_t pixels) {
  switch (pixels) {
    case RL_VIDEO_BGR24: return AV_PIX_FMT_BGR24;
    case RL_VIDEO_RGB24: return AV_PIX_FMT_RGB24;
    case RL_VIDEO_GRAY8: return AV_PIX_FMT_GRAY8;
    case RL_VIDEO_NV12: return AV_PIX_FMT_NV12;
    default: throw Refusal(RL_VIDEO_INVALID, "pixel format " + std::to_string(pixels) + " is not known");
  }
}

}  // namespace

void Converter::convert(const AVFrame& frame, std::int32_t pixels, Orientation orientation, std::uint8_t* bytes,
                        std::size_t size) {
  const auto format = format_of(pixels);
  const int mask = format == AV_PIX_FMT_NV12 ? ~1 : ~0;
  const int width = frame.width & mask;
  const int height = frame.height & mask;
  const int expected = checked(av_image_get_buffer_size(format, width, height, 1), "size of a picture");
  if (static_cast<std::size_t>(expected) != size)
    throw Refusal(RL_VIDEO_INVALID,
                  "a buffer of " + std::to_string(size) + " bytes for a picture of " + std::to_string(expected));
  const auto source = static_cast<AVPixelFormat>(frame.format);
  if (orientation != Orientation::normal) {
    auto& rows = padded(format, width, height);
    scale(frame.data, frame.linesize, source, rows.data, rows.linesize, format, width, height);
    return turn(rows, orientation, bytes);
  }
  std::array<std::uint8_t*, 4> planes{};
  std::array<int, 4> strides{};
  checked(av_image_fill_arrays(planes.data(), strides.data(), bytes, format, width, height, 1), "layout of a picture");
  if (strides[0] % kRowBytes == 0) {
    scale(frame.data, frame.linesize, source, planes.data(), strides.data(), format, width, height);
    return;
  }
  auto& rows = padded(format, width, height);
  scale(frame.data, frame.linesize, source, rows.data, rows.linesize, format, width, height);
  av_image_copy(planes.data(), strides.data(), const_cast<const std::uint8_t**>(rows.data), rows.linesize, format,
                width, height);
}

void Converter::turn(const AVFrame& rows, Orientation orientation, std::uint8_t* bytes) const {
  const bool has_chroma = rows.format == AV_PIX_FMT_NV12;
  const int pixel = has_chroma || rows.format == AV_PIX_FMT_GRAY8 ? 1 : 3;
  const int row = pixel * (swaps_sides(orientation) ? rows.height : rows.width);
  orient({rows.data[0], rows.linesize[0], rows.width, rows.height, pixel}, orientation, bytes, row);
  // A sample of colour is two bytes for two rows and columns.
  if (has_chroma)
    orient({rows.data[1], rows.linesize[1], rows.width / 2, rows.height / 2, 2}, orientation,
           bytes + static_cast<std::ptrdiff_t>(rows.width) * rows.height, row);
}

void Converter::fill(AVFrame& frame, const std::uint8_t* bgr24) {
  const int row = 3 * frame.width;
  auto& rows = padded(AV_PIX_FMT_BGR24, frame.width, frame.height);
  av_image_copy_plane(rows.data[0], rows.linesize[0], bgr24, row, row, frame.height);
  scale(rows.data, rows.linesize, AV_PIX_FMT_BGR24, frame.data, frame.linesize,
        static_cast<AVPixelFormat>(frame.format), frame.width, frame.height);
}

AVFrame& Converter::padded(AVPixelFormat format, int width, int height) {
  if (!padded_ || padded_->width != width || padded_->height != height || padded_->format != format) {
    Owned<AVFrame> made(av_frame_alloc());
    if (!made) throw std::bad_alloc();
    made->width = width;
    made->height = height;
    made->format = format;
    checked(av_frame_get_buffer(made.get(), kPaddedAlignment), "memory for a picture");
    padded_ = std::move(made);
  }
  return *padded_;
}

void Converter::scale(const std::uint8_t* const* from, const int* from_strides, AVPixelFormat from_format,
                      std::uint8_t* const* to, const int* to_strides, AVPixelFormat to_format, int width, int height) {
  scaler_.reset(sws_getCachedContext(scaler_.release(), width, height, from_format, width, height, to_format,
                                     SWS_BICUBIC, nullptr, nullptr, nullptr));
  if (!scaler_) throw Refusal(RL_VIDEO_UNSUPPORTED, "FFmpeg does not convert this pixel format");
  checked(sws_scale(scaler_.get(), from, from_strides, 0, height, to, to_strides), "conversion of a frame");
}

}  // namespace ridgeline::video_plugin
