// SPDX-License-Identifier: Apache-2.0
#include "stream/image.hpp"

namespace ridgeline::stream {

std::string_view to_string(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::bgr24: return "bgr24";
    case PixelFormat::rgb24: return "rgb24";
    case PixelFormat::gray8: return "gray";
    case PixelFormat::nv12: return "nv12";
  }
  return "unknown";
}

std::size_t image_bytes(int width, int height, PixelFormat format) noexcept {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  switch (format) {
    case PixelFormat::bgr24:
    case PixelFormat::rgb24: return 3 * pixels;
    case PixelFormat::gray8: return pixels;
    case PixelFormat::nv12: return pixels + pixels / 2;
  }
  return 0;
}

}  // namespace ridgeline::stream
