// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stream/image.hpp"

namespace ridgeline::stream {

/// A picture at another size, one row at a time: bilinear between pixel centres as cv2.resize with INTER_LINEAR has it,
/// also when shrinking (no averaging: models are trained and checked with exactly that), but not rounded to bytes.
/// NV12 becomes RGB as by cv2.cvtColor (BT.601, 16 to 235). Buffers and column tables are kept for the next picture.
/// Not thread-safe.
///   rows.start(image, 640, 360);
///   for (int y = 0; y < 360; ++y) use(rows.row(y));
class RowResizer {
 public:
  /// `image` stays in place and unchanged while rows are taken; its bytes are complete, sides above 0.
  void start(const Image& image, int width, int height);
  /// Row `y` of the new picture, interleaved, pixel values from 0 to 255; valid until the next call.
  [[nodiscard]] const float* row(int y);
  /// Values a pixel: 1 (gray) or 3.
  [[nodiscard]] int components() const noexcept { return components_; }
  /// Whether the three are blue, green, red.
  [[nodiscard]] bool is_bgr() const noexcept { return image_->format == PixelFormat::bgr24; }

  /// The place of a column in a source row: between the pixels at value `first` and the one behind it.
  struct Column {
    std::int32_t first = 0;
    float weight = 0;  ///< of the second, 0 to 1
  };

 private:
  void make_columns();
  const std::uint8_t* source_row(int y);

  const Image* image_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  int components_ = 3;
  int columns_from_ = 0;  ///< source width of columns_
  int columns_components_ = 0;
  std::vector<Column> columns_;
  std::vector<float> blended_;  ///< a source row; zeros behind it, which the last columns read with weight 0
  std::vector<float> resized_;
  std::array<std::vector<std::uint8_t>, 2> converted_;  ///< rows of NV12 as RGB, by parity
  std::array<int, 2> converted_y_{-1, -1};
};

}  // namespace ridgeline::stream
