// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stream/annotation.hpp"
#include "stream/image.hpp"
#include "stream/row_resizer.hpp"

namespace ridgeline::stream {

/// Brings pictures of any format and size to bgr24 of one size: as they are in the upper left corner where they fit
/// but for a row or column, else evenly resized into the middle. The rest is black.
class BgrPicture {
 public:
  BgrPicture(int width, int height);

  /// Where its pixels went.
  [[nodiscard]] CanvasPlace take(const Image& image);
  [[nodiscard]] Image& image() noexcept { return image_; }

 private:
  void write_row(const float* values, int pixels, int left, int y);

  Image image_;
  RowResizer rows_;
};

}  // namespace ridgeline::stream
