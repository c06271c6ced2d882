// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stream/image.hpp"

namespace ridgeline::stream {

/// Blue, green, red.
using Colour = std::array<std::uint8_t, 3>;

/// Draws on a picture in bgr24. What lies outside is left out; coordinates may be anything but too large for an int.
class Canvas {
 public:
  explicit Canvas(Image& image) : image_(image) {}

  void fill(int left, int top, int width, int height, const Colour& colour);
  /// From pixel to pixel, both included.
  void line(int from_x, int from_y, int to_x, int to_y, int thickness, const Colour& colour);
  /// In UTF-8; a question mark for each character beyond ASCII. `left`, `top` is its upper left corner; a glyph's pixel
  /// is `scale` pixels wide and high. On a ground of its own, which is moved into the picture as far as it fits.
  void text(int left, int top, std::string_view text, int scale, const Colour& colour, const Colour& ground);
  /// Of such a text with its ground.
  [[nodiscard]] static int text_width(std::string_view text, int scale) noexcept;
  [[nodiscard]] static int text_height(int scale) noexcept;

  [[nodiscard]] int width() const noexcept { return image_.width; }
  [[nodiscard]] int height() const noexcept { return image_.height; }

 private:
  Image& image_;
};

}  // namespace ridgeline::stream
