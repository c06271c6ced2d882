// SPDX-License-Identifier: Apache-2.0
// Rows are blended vertically first: that pass is contiguous over all channels and vectorizes for plain SSE2. Columns
// then take four neighbouring values at once, one more than a pixel has. Interpolation is linear, so that the order of
// both passes does not matter.
#include "stream/row_resizer.hpp"

#include <algorithm>
#include <cstring>

namespace ridgeline::stream {
namespace {

constexpr std::size_t kSpare = 8;  // values behind a row that may be read or written

struct Place {
  int first;
  float weight;
};

/// Where pixel `at` of `target` lies among `source` pixels, by their centres; the outermost pixels go on outside. In
/// whole numbers, as preprocess_kernel.hpp does it, so that both give the same bits: ((2 at + 1) source - target) / (2
/// target), below 2^31 for sides of up to 32768.
Place place(int at, int source, int target) {
  const int numerator = (2 * at + 1) * source - target;
  if (numerator <= 0) return {0, 0};
  const int first = numerator / (2 * target);
  if (first >= source - 1) return {source - 1, 0};
  return {first, static_cast<float>(numerator % (2 * target)) / static_cast<float>(2 * target)};
}

void blend(const std::uint8_t* __restrict upper, const std::uint8_t* __restrict lower, float weight, std::size_t count,
           float* __restrict out) {
  for (std::size_t i = 0; i < count; ++i) {
    const int difference = static_cast<int>(lower[i]) - static_cast<int>(upper[i]);
    out[i] = static_cast<float>(upper[i]) + static_cast<float>(difference) * weight;
  }
}

void lerp_pixels(const float* __restrict row, const std::vector<RowResizer::Column>& columns, float* __restrict out) {
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const float* left = row + columns[x].first;
    const float weight = columns[x].weight;
    float pixel[4];  // the fourth is overwritten by the next pixel: four at once are one instruction each
    for (int i = 0; i < 4; ++i) pixel[i] = left[i] + (left[i + 3] - left[i]) * weight;
    std::memcpy(out + 3 * x, pixel, sizeof pixel);
  }
}

void lerp_values(const float* __restrict row, const std::vector<RowResizer::Column>& columns, float* __restrict out) {
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const float* left = row + columns[x].first;
    out[x] = left[0] + (left[1] - left[0]) * columns[x].weight;
  }
}

std::uint8_t clamp_byte(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

/// BT.601 of limited range in 20 bits of fraction, with the constants of OpenCV (color_yuv.simd.hpp).
void nv12_row(const Image& image, int y, std::uint8_t* rgb) {
  constexpr int kBits = 20;
  constexpr int kHalf = 1 << (kBits - 1);
  const auto width = static_cast<std::size_t>(image.width);
  const std::uint8_t* luma = image.bytes.data() + static_cast<std::size_t>(y) * width;
  const std::uint8_t* chroma =
      image.bytes.data() + static_cast<std::size_t>(image.height) * width + static_cast<std::size_t>(y / 2) * width;
  for (std::size_t x = 0; x + 1 < width; x += 2) {
    const int u = chroma[x] - 128;
    const int v = chroma[x + 1] - 128;
    const int red = kHalf + 1673527 * v;
    const int green = kHalf - 852492 * v - 409993 * u;
    const int blue = kHalf + 2116026 * u;
    for (std::size_t i = x; i < x + 2; ++i) {
      const int level = std::max(0, luma[i] - 16) * 1220542;
      rgb[3 * i] = clamp_byte((level + red) >> kBits);
      rgb[3 * i + 1] = clamp_byte((level + green) >> kBits);
      rgb[3 * i + 2] = clamp_byte((level + blue) >> kBits);
    }
  }
}

}  // namespace

void RowResizer::start(const Image& image, int width, int height) {
  image_ = &image;
  components_ = image.format == PixelFormat::gray8 ? 1 : 3;
  converted_y_ = {-1, -1};
  width_ = width;
  height_ = height;
  const auto values = static_cast<std::size_t>(components_) * static_cast<std::size_t>(image.width);
  if (blended_.size() != values + kSpare) blended_.assign(values + kSpare, 0.0F);
  make_columns();
}

void RowResizer::make_columns() {
  if (columns_from_ == image_->width && columns_components_ == components_ &&
      columns_.size() == static_cast<std::size_t>(width_))
    return;
  columns_from_ = image_->width;
  columns_components_ = components_;
  columns_.resize(static_cast<std::size_t>(width_));
  for (int x = 0; x < width_; ++x) {
    const auto at = place(x, columns_from_, width_);
    columns_[static_cast<std::size_t>(x)] = {components_ * at.first, at.weight};
  }
  resized_.assign(static_cast<std::size_t>(components_) * columns_.size() + kSpare, 0.0F);
}

const std::uint8_t* RowResizer::source_row(int y) {
  const auto values = static_cast<std::size_t>(components_) * static_cast<std::size_t>(image_->width);
  if (image_->format != PixelFormat::nv12) return image_->bytes.data() + static_cast<std::size_t>(y) * values;
  const auto slot = static_cast<std::size_t>(y % 2);  // neighbouring rows are of different parity
  if (converted_y_[slot] != y) {
    converted_[slot].resize(values);
    nv12_row(*image_, y, converted_[slot].data());
    converted_y_[slot] = y;
  }
  return converted_[slot].data();
}

const float* RowResizer::row(int y) {
  const auto values = static_cast<std::size_t>(components_) * static_cast<std::size_t>(image_->width);
  const auto at = place(y, image_->height, height_);
  const auto* upper = source_row(at.first);
  const auto* lower = at.weight > 0 ? source_row(at.first + 1) : upper;
  blend(upper, lower, at.weight, values, blended_.data());
  if (width_ == image_->width) return blended_.data();
  if (components_ == 3)
    lerp_pixels(blended_.data(), columns_, resized_.data());
  else
    lerp_values(blended_.data(), columns_, resized_.data());
  return resized_.data();
}

}  // namespace ridgeline::stream
