// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "stream/image.hpp"

namespace ridgeline::stream {

/// Frames without any header, one behind another.
struct RawFormat {
  int width = 0;  ///< 1..32768 a side and at most 2^28 pixels; even for nv12
  int height = 0;
  PixelFormat format = PixelFormat::bgr24;
  double fps = 30;  ///< gives the frames their times
};

inline constexpr int kMaxSide = 32768;

/// "1280x720:bgr24@30"; without "@FPS" 30 frames a second. Errors: invalid_argument, naming the part that is wrong.
[[nodiscard]] base::Result<RawFormat> parse_raw_format(std::string_view text);

/// "1280x720" into a format's sides; `what` names it in errors.
[[nodiscard]] base::Result<void> parse_size(std::string_view text, std::string_view what, RawFormat& format);

/// "30", "29.97": above 0 and at most 10000.
[[nodiscard]] base::Result<double> parse_fps(std::string_view text, std::string_view what);

/// "bgr24", "rgb24", "gray", "nv12".
[[nodiscard]] base::Result<PixelFormat> parse_pixel_format(std::string_view text, std::string_view what);

}  // namespace ridgeline::stream
