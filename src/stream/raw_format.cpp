// SPDX-License-Identifier: Apache-2.0
#include "stream/raw_format.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;  // no picture of a few bytes asks for gigabytes
constexpr double kMaxFps = 10'000;
constexpr std::array kPixelFormats{PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8, PixelFormat::nv12};

Result<int> parse_side(std::string_view text, std::string_view what) {
  RL_TRY_ASSIGN(const auto side, base::parse_integer(text, what));
  if (side < 1 || side > kMaxSide)
    return fail(ErrorCode::invalid_argument, "{}: a side of {} is outside 1..{}", what, side, kMaxSide);
  return static_cast<int>(side);
}

}  // namespace

Result<void> parse_size(std::string_view text, std::string_view what, RawFormat& format) {
  const auto at = text.find('x');
  if (at == std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "{}: the size \"{}\" is not WIDTHxHEIGHT", what, text)
        .hint("for example 1280x720");
  RL_TRY_ASSIGN(format.width, parse_side(text.substr(0, at), what));
  RL_TRY_ASSIGN(format.height, parse_side(text.substr(at + 1), what));
  if (std::int64_t{format.width} * format.height > kMaxPixels)
    return fail(ErrorCode::invalid_argument, "{}: {}x{} is above {} pixels", what, format.width, format.height,
                kMaxPixels);
  return {};
}

Result<double> parse_fps(std::string_view text, std::string_view what) {
  RL_TRY_ASSIGN(const auto fps, base::parse_number(text, what));
  if (fps <= 0 || fps > kMaxFps)
    return fail(ErrorCode::invalid_argument, "{}: {} frames per second is not above 0 and at most {}", what, fps,
                kMaxFps);
  return fps;
}

Result<PixelFormat> parse_pixel_format(std::string_view text, std::string_view what) {
  std::vector<std::string> names;
  for (const auto format : kPixelFormats) {
    if (to_string(format) == text) return format;
    names.emplace_back(to_string(format));
  }
  auto fault =
      fail(ErrorCode::invalid_argument, "{}: the pixel format \"{}\" is none of bgr24, rgb24, gray, nv12", what, text);
  fault.value().hint = base::did_you_mean(text, names);
  return fault;
}

Result<RawFormat> parse_raw_format(std::string_view text) {
  constexpr std::string_view kForm = "expected WIDTHxHEIGHT:bgr24|rgb24|gray|nv12[@FPS], as in 1280x720:bgr24@30";
  const auto what = fmt::format("raw format \"{}\"", text);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "{}: no pixel format", what).hint("{}", kForm);
  const auto rate = text.find('@', colon);
  RawFormat out;
  RL_TRY(parse_size(text.substr(0, colon), what, out));
  RL_TRY_ASSIGN(out.format, parse_pixel_format(text.substr(colon + 1, rate - colon - 1), what));
  if (rate != std::string_view::npos) {
    RL_TRY_ASSIGN(out.fps, parse_fps(text.substr(rate + 1), what));
  }
  if (out.format == PixelFormat::nv12 && (out.width % 2 != 0 || out.height % 2 != 0))
    return fail(ErrorCode::invalid_argument, "{}: nv12 has even sides, not {}x{}", what, out.width, out.height);
  return out;
}

}  // namespace ridgeline::stream
