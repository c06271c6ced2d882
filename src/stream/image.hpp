// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stream/image_bytes.hpp"

namespace ridgeline::stream {

enum class PixelFormat : std::uint8_t {
  bgr24,
  rgb24,
  gray8,
  nv12,  ///< a plane of luma, then one of interleaved chroma of half its width and height; both sides even
};

/// "bgr24", "rgb24", "gray", "nv12", as --raw takes them.
[[nodiscard]] std::string_view to_string(PixelFormat format) noexcept;

/// One picture, rows from the top without padding. Memory is reused: who fills one resizes `bytes`, which are the
/// host's but for pictures that a source leaves on a device (ImageBytes::place).
struct Image {
  int width = 0;
  int height = 0;
  PixelFormat format = PixelFormat::bgr24;
  ImageBytes bytes;
};

/// What a picture of that size takes; sides from 1 to 32768.
[[nodiscard]] std::size_t image_bytes(int width, int height, PixelFormat format) noexcept;

}  // namespace ridgeline::stream
