// SPDX-License-Identifier: Apache-2.0
#include "stream/bgr_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ridgeline::stream {

BgrPicture::BgrPicture(int width, int height) {
  image_.width = width;
  image_.height = height;
  image_.bytes.resize(image_bytes(width, height, image_.format));
}

CanvasPlace BgrPicture::take(const Image& image) {
  if (image.width == image_.width && image.height == image_.height && image.format == image_.format) {
    std::copy(image.bytes.begin(), image.bytes.end(), image_.bytes.begin());
    return {};
  }
  const bool fits = image.width <= image_.width && image.width + 1 >= image_.width && image.height <= image_.height &&
                    image.height + 1 >= image_.height;
  CanvasPlace place;
  if (!fits)
    place.scale =
        std::min(static_cast<double>(image_.width) / image.width, static_cast<double>(image_.height) / image.height);
  const auto side = [&](int of, int most) {
    return std::clamp(static_cast<int>(std::lround(of * place.scale)), 1, most);
  };
  const int width = side(image.width, image_.width);
  const int height = side(image.height, image_.height);
  const int left = fits ? 0 : (image_.width - width) / 2;
  const int top = fits ? 0 : (image_.height - height) / 2;
  place.x = left;
  place.y = top;
  if (width < image_.width || height < image_.height) std::fill(image_.bytes.begin(), image_.bytes.end(), 0);
  rows_.start(image, width, height);
  for (int y = 0; y < height; ++y) write_row(rows_.row(y), width, left, top + y);
  return place;
}

void BgrPicture::write_row(const float* values, int pixels, int left, int y) {
  auto* out = image_.bytes.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) +
                                         static_cast<std::size_t>(left));
  const auto byte = [](float value) { return static_cast<std::uint8_t>(static_cast<int>(value + 0.5F)); };
  const int components = rows_.components();
  const int blue = components == 1 || rows_.is_bgr() ? 0 : 2;
  for (int x = 0; x < pixels; ++x, values += components, out += 3)
    for (int c = 0; c < 3; ++c) out[c] = byte(components == 1 ? values[0] : values[std::abs(blue - c)]);
}

}  // namespace ridgeline::stream
