// SPDX-License-Identifier: Apache-2.0
// Interpolation weights add up to 1, so that normalising after it is the same as before; it then costs one
// multiplication and one addition a value: (p * pixel_scale - mean) / deviation = p * gain + bias.
#include "stream/preprocessor.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/half_float.hpp"
#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kLongestSide = 32768;
constexpr double kLargestScale = 4;
constexpr int kLargestStride = 1024;

int round_to_int(double value) { return static_cast<int>(std::lround(value)); }

/// A side of the input of a model that takes any. Halves go to the even side as in Python, so that 720 is 704 of stride
/// 32 as elsewhere.
int dynamic_side(int side, const PreprocessOptions& options) {
  const double strides = std::nearbyint(options.scale * side / options.stride);
  return std::max(1, static_cast<int>(strides)) * options.stride;
}

/// The same beside one that is fixed at `other_input` (-1: it is not): as long as the frame is then.
int free_side(int side, int other_side, int other_input, const PreprocessOptions& options) {
  if (other_input < 1) return dynamic_side(side, options);
  auto evenly = options;
  evenly.scale = static_cast<double>(other_input) / other_side;
  return std::min(dynamic_side(side, evenly), kLongestSide / options.stride * options.stride);
}

void write_planes(const float* __restrict row, std::size_t pixels, const std::array<float, 3>& gain,
                  const std::array<float, 3>& bias, float* __restrict first, float* __restrict second,
                  float* __restrict third) {
  const float gain0 = gain[0], gain1 = gain[1], gain2 = gain[2];
  const float bias0 = bias[0], bias1 = bias[1], bias2 = bias[2];
  for (std::size_t x = 0; x < pixels; ++x) {
    first[x] = row[3 * x] * gain0 + bias0;
    second[x] = row[3 * x + 1] * gain1 + bias1;
    third[x] = row[3 * x + 2] * gain2 + bias2;
  }
}

/// `from[c]` is the place of the model's channel c in a pixel.
void write_interleaved(const float* __restrict row, std::size_t pixels, const std::array<float, 3>& gain,
                       const std::array<float, 3>& bias, std::array<std::size_t, 3> from, float* __restrict out) {
  for (std::size_t x = 0; x < pixels; ++x)
    for (std::size_t c = 0; c < 3; ++c) out[3 * x + c] = row[3 * x + from[c]] * gain[c] + bias[c];
}

void write_single(const float* __restrict row, std::size_t pixels, float gain, float bias, float* __restrict out) {
  for (std::size_t x = 0; x < pixels; ++x) out[x] = row[x] * gain + bias;
}

void write_luma(const float* __restrict row, std::size_t pixels, bool is_bgr, float gain, float bias,
                float* __restrict out) {
  const float first = (is_bgr ? 0.114F : 0.299F) * gain;
  const float second = 0.587F * gain;
  const float third = (is_bgr ? 0.299F : 0.114F) * gain;
  for (std::size_t x = 0; x < pixels; ++x)
    out[x] = row[3 * x] * first + row[3 * x + 1] * second + row[3 * x + 2] * third + bias;
}

/// Interpolated pixels stay within 0 to 255.
std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(static_cast<int>(value + 0.5F)); }

void convert(const float* __restrict values, std::size_t count, std::uint16_t* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = base::to_half(values[i]);
}

void convert(const float* __restrict values, std::size_t count, std::uint8_t* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = to_byte(values[i]);
}

}  // namespace

base::Result<void> check_preprocess_options(const PreprocessOptions& options) {
  if (!(options.scale > 0 && options.scale <= kLargestScale))
    return fail(ErrorCode::invalid_argument, "inference_scale {} is outside 0..{}", options.scale, kLargestScale);
  if (options.stride < 1 || options.stride > kLargestStride)
    return fail(ErrorCode::invalid_argument, "preprocess.stride {} is outside 1..{}", options.stride, kLargestStride);
  for (const float mean : options.mean)
    if (!std::isfinite(mean)) return fail(ErrorCode::invalid_argument, "preprocess.mean {}: expected a number", mean);
  for (const float deviation : options.deviation)
    if (!(std::isfinite(deviation) && deviation > 0))
      return fail(ErrorCode::invalid_argument, "preprocess.std {}: expected a number above 0", deviation);
  if (!(std::isfinite(options.pixel_scale) && options.pixel_scale > 0))
    return fail(ErrorCode::invalid_argument, "preprocess.pixel_scale {}: expected a number above 0",
                options.pixel_scale);
  return {};
}

base::Result<FrameGeometry> Preprocessor::plan(int frame_width, int frame_height, int model_width,
                                               int model_height) const {
  if (frame_width < 1 || frame_height < 1 || frame_width > kLongestSide || frame_height > kLongestSide)
    return fail(ErrorCode::invalid_argument, "a frame of {}x{}: expected sides of 1 to {}", frame_width, frame_height,
                kLongestSide);
  FrameGeometry geometry;
  geometry.frame_width = frame_width;
  geometry.frame_height = frame_height;
  const bool is_even = options_.resize != Resize::stretch;
  geometry.input_width =
      model_width > 0 ? model_width : free_side(frame_width, frame_height, is_even ? model_height : -1, options_);
  geometry.input_height =
      model_height > 0 ? model_height : free_side(frame_height, frame_width, is_even ? model_width : -1, options_);
  if (geometry.input_width > kLongestSide || geometry.input_height > kLongestSide)
    return fail(ErrorCode::invalid_argument, "a model input of {}x{}: expected sides of 1 to {}", geometry.input_width,
                geometry.input_height, kLongestSide);
  const bool has_fixed_side = model_width > 0 || model_height > 0;
  if (model_width > 0 && model_height > 0 && options_.scale < 1) {
    geometry.detail_width = std::max(1, round_to_int(options_.scale * frame_width));
    geometry.detail_height = std::max(1, round_to_int(options_.scale * frame_height));
  }
  int content_width = geometry.input_width;
  int content_height = geometry.input_height;
  if (options_.resize == Resize::letterbox || (options_.resize == Resize::automatic && has_fixed_side)) {
    const double ratio = std::min(static_cast<double>(geometry.input_width) / frame_width,
                                  static_cast<double>(geometry.input_height) / frame_height);
    content_width = std::clamp(round_to_int(frame_width * ratio), 1, geometry.input_width);
    content_height = std::clamp(round_to_int(frame_height * ratio), 1, geometry.input_height);
  }
  geometry.scale_x = static_cast<double>(content_width) / frame_width;
  geometry.scale_y = static_cast<double>(content_height) / frame_height;
  if (options_.align == Align::center) {
    geometry.offset_x = (geometry.input_width - content_width) / 2;
    geometry.offset_y = (geometry.input_height - content_height) / 2;
  }
  return geometry;
}

base::Result<void> check_planned(const Image& image, const FrameGeometry& geometry) {
  if (image.width != geometry.frame_width || image.height != geometry.frame_height)
    return fail(ErrorCode::invalid_argument, "a frame of {}x{}: expected {}x{} as before", image.width, image.height,
                geometry.frame_width, geometry.frame_height);
  if (image.bytes.size() < image_bytes(image.width, image.height, image.format))
    return fail(ErrorCode::invalid_argument, "a frame of {}x{} in {} with {} bytes: expected {}", image.width,
                image.height, to_string(image.format), image.bytes.size(),
                image_bytes(image.width, image.height, image.format));
  if (image.format == PixelFormat::nv12 && (image.width % 2 != 0 || image.height % 2 != 0))
    return fail(ErrorCode::invalid_argument, "a frame of {}x{} in nv12: expected even sides", image.width,
                image.height);
  return {};
}

std::size_t Preprocessor::elements(const FrameGeometry& geometry) const noexcept {
  return channels() * static_cast<std::size_t>(geometry.input_width) * static_cast<std::size_t>(geometry.input_height);
}

Normalisation normalisation_of(const PreprocessOptions& options) noexcept {
  Normalisation affine;
  for (std::size_t c = 0; c < 3; ++c) {
    affine.gain[c] = options.pixel_scale / options.deviation[c];
    affine.bias[c] = -options.mean[c] / options.deviation[c];
  }
  return affine;
}

base::Result<void> Preprocessor::run(const Image& image, const FrameGeometry& geometry, std::span<float> out) {
  return run_as(image, geometry, normalisation_of(options_), out);
}

base::Result<void> Preprocessor::run_half(const Image& image, const FrameGeometry& geometry,
                                          std::span<std::uint16_t> out) {
  return run_as(image, geometry, normalisation_of(options_), out);
}

base::Result<void> Preprocessor::run_bytes(const Image& image, const FrameGeometry& geometry,
                                           std::span<std::uint8_t> out) {
  return run_as(image, geometry, Normalisation{}, out);
}

/// The frame at detail_width x detail_height, as bytes like a frame of that size would have.
const Image& Preprocessor::with_less_detail(const Image& image, const FrameGeometry& geometry) {
  if (geometry.detail_width < 1 || geometry.detail_height < 1) return image;
  detail_rows_.start(image, geometry.detail_width, geometry.detail_height);
  const bool is_gray = detail_rows_.components() == 1;
  detail_.format = is_gray ? PixelFormat::gray8 : detail_rows_.is_bgr() ? PixelFormat::bgr24 : PixelFormat::rgb24;
  detail_.width = geometry.detail_width;
  detail_.height = geometry.detail_height;
  detail_.bytes.resize(image_bytes(detail_.width, detail_.height, detail_.format));
  const std::size_t values = detail_.bytes.size() / static_cast<std::size_t>(detail_.height);
  for (int y = 0; y < detail_.height; ++y)
    convert(detail_rows_.row(y), values, detail_.bytes.data() + static_cast<std::size_t>(y) * values);
  return detail_;
}

/// `planes`: one a channel, or the first alone for interleaved channels.
void Preprocessor::write_pixels(const float* row, std::size_t pixels, const Normalisation& affine,
                                std::array<float*, 3> planes) const {
  const bool is_gray = rows_.components() == 1;
  const bool is_swapped = !is_gray && rows_.is_bgr() != (options_.channels == ChannelOrder::bgr);
  if (channels() == 1) {
    if (is_gray)
      write_single(row, pixels, affine.gain[0], affine.bias[0], planes[0]);
    else
      write_luma(row, pixels, rows_.is_bgr(), affine.gain[0], affine.bias[0], planes[0]);
  } else if (options_.layout == TensorLayout::nhwc) {
    if (is_gray) {
      for (std::size_t x = 0; x < pixels; ++x)
        for (std::size_t c = 0; c < 3; ++c) planes[0][3 * x + c] = row[x] * affine.gain[c] + affine.bias[c];
    } else {
      const std::array<std::size_t, 3> order{is_swapped ? 2U : 0U, 1U, is_swapped ? 0U : 2U};
      write_interleaved(row, pixels, affine.gain, affine.bias, order, planes[0]);
    }
  } else if (is_gray) {
    for (std::size_t c = 0; c < 3; ++c) write_single(row, pixels, affine.gain[c], affine.bias[c], planes[c]);
  } else {
    const std::size_t first = is_swapped ? 2 : 0;
    const std::size_t third = is_swapped ? 0 : 2;
    write_planes(row, pixels, {affine.gain[first], affine.gain[1], affine.gain[third]},
                 {affine.bias[first], affine.bias[1], affine.bias[third]}, planes[first], planes[1], planes[third]);
  }
}

void Preprocessor::write_border(const Normalisation& affine, std::size_t pixels, std::array<float*, 3> planes) const {
  const bool is_interleaved = options_.layout == TensorLayout::nhwc;
  for (std::size_t c = 0; c < channels(); ++c) {
    const float value = static_cast<float>(options_.border) * affine.gain[c] + affine.bias[c];
    if (is_interleaved)
      for (std::size_t x = 0; x < pixels; ++x) planes[0][channels() * x + c] = value;
    else
      std::fill_n(planes[c], pixels, value);
  }
}

template <typename T>
base::Result<void> Preprocessor::run_as(const Image& image, const FrameGeometry& geometry, const Normalisation& affine,
                                        std::span<T> out) {
  RL_TRY(check_planned(image, geometry));
  if (image.bytes.place() == ImagePlace::device)
    return fail(ErrorCode::internal, "a frame of {}x{} lies in the memory of a device", image.width, image.height);
  if (out.size() != elements(geometry))
    return fail(ErrorCode::invalid_argument, "an input of {} values: expected {}", out.size(), elements(geometry));

  const bool is_interleaved = options_.layout == TensorLayout::nhwc;
  const auto width = static_cast<std::size_t>(geometry.input_width);
  const auto height = static_cast<std::size_t>(geometry.input_height);
  const auto left = static_cast<std::size_t>(geometry.offset_x);
  const auto top = static_cast<std::size_t>(geometry.offset_y);
  const auto content_width = static_cast<std::size_t>(geometry.content_width());
  const auto content_height = static_cast<std::size_t>(geometry.content_height());
  if (left + content_width > width || top + content_height > height)
    return fail(ErrorCode::internal, "a frame of {}x{} at {},{} does not fit in an input of {}x{}", content_width,
                content_height, left, top, width, height);
  rows_.start(with_less_detail(image, geometry), static_cast<int>(content_width), static_cast<int>(content_height));
  // A row's values, in one piece for interleaved channels; else one piece a channel.
  const std::size_t pieces = is_interleaved ? 1 : channels();
  const std::size_t piece = is_interleaved ? channels() * width : width;
  const std::size_t step = is_interleaved ? channels() : 1;
  if constexpr (!std::is_same_v<T, float>) scratch_.resize(pieces * piece);
  for (std::size_t y = 0; y < height; ++y) {
    std::array<float*, 3> planes{};
    for (std::size_t c = 0; c < pieces; ++c) {
      if constexpr (std::is_same_v<T, float>)
        planes[c] = out.data() + (c * height + y) * piece;
      else
        planes[c] = scratch_.data() + c * piece;
    }
    const auto behind = [&](std::size_t pixels) {
      auto moved = planes;
      for (std::size_t c = 0; c < pieces; ++c) moved[c] += pixels * step;
      return moved;
    };
    if (y < top || y >= top + content_height) {
      write_border(affine, width, planes);
    } else {
      write_border(affine, left, planes);
      write_pixels(rows_.row(static_cast<int>(y - top)), content_width, affine, behind(left));
      write_border(affine, width - left - content_width, behind(left + content_width));
    }
    if constexpr (!std::is_same_v<T, float>)
      for (std::size_t c = 0; c < pieces; ++c) convert(planes[c], piece, out.data() + (c * height + y) * piece);
  }
  return {};
}

std::optional<schema::Message> fixed_input_note(const PreprocessOptions& options, int model_width, int model_height) {
  if (options.scale == 1 || model_width < 1 || model_height < 1) return std::nullopt;
  return messages::input_fixed(
      {.scale = options.scale, .width = model_width, .height = model_height, .is_larger = options.scale > 1});
}

}  // namespace ridgeline::stream
