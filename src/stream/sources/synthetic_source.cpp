// SPDX-License-Identifier: Apache-2.0
// Row y of frame i begins y + 3i pixels into the pattern, whose period is 256 pixels: each row is one copy.
#include "stream/sources/synthetic_source.hpp"

#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kPeriod = 256;
constexpr std::int64_t kStep = 3;

}  // namespace

base::Result<SyntheticSource::Pattern> SyntheticSource::parse(std::string_view text, PixelFormat format) {
  const auto what = fmt::format("source \"synthetic:{}\"", text);
  Pattern out;
  out.picture.format = format;
  const auto rate = text.find('@');
  auto size = text.substr(0, rate);
  auto count = std::string_view();
  if (rate != std::string_view::npos) {
    const auto tail = text.substr(rate + 1);
    const auto at = tail.find('x');
    RL_TRY_ASSIGN(out.picture.fps, parse_fps(tail.substr(0, at), what));
    if (at != std::string_view::npos) count = tail.substr(at + 1);
  } else if (const auto at = size.find('x', size.find('x') + 1);
             at != std::string_view::npos && at > 0 && size.find('x') != at) {
    count = size.substr(at + 1);
    size = size.substr(0, at);
  }
  RL_TRY(parse_size(size, what, out.picture));
  if (!count.empty()) {
    RL_TRY_ASSIGN(out.frames, base::parse_integer(count, what));
    if (out.frames < 1)
      return fail(ErrorCode::invalid_argument, "{}: {} frames: expected at least 1", what, out.frames);
  }
  if (format == PixelFormat::nv12 && (out.picture.width % 2 != 0 || out.picture.height % 2 != 0))
    return fail(ErrorCode::invalid_argument, "{}: nv12 has even sides", what);
  return out;
}

SyntheticSource::SyntheticSource(std::string name, const Pattern& pattern) : pattern_(pattern) {
  const auto& picture = pattern.picture;
  info_.name = std::move(name);
  info_.width = picture.width;
  info_.height = picture.height;
  info_.fps = picture.fps;
  info_.frames = pattern.frames;
  const int channels = picture.format == PixelFormat::bgr24 || picture.format == PixelFormat::rgb24 ? 3 : 1;
  row_.resize(static_cast<std::size_t>(channels) * static_cast<std::size_t>(picture.width + kPeriod));
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const auto pixel = i / static_cast<std::size_t>(channels);
    const auto channel = i % static_cast<std::size_t>(channels);
    row_[i] = static_cast<std::uint8_t>(pixel * (channel + 1));
  }
}

base::Result<std::optional<std::int64_t>> SyntheticSource::next(Image& image) {
  if (stopped_.load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
  if (pattern_.frames >= 0 && frames_ >= pattern_.frames) return std::nullopt;
  const auto& picture = pattern_.picture;
  image.width = picture.width;
  image.height = picture.height;
  image.format = picture.format;
  image.bytes.resize(image_bytes(picture.width, picture.height, picture.format));
  const auto width = static_cast<std::size_t>(picture.width);
  const auto row = row_.size() / (width + kPeriod) * width;
  const auto pixel = row / width;
  const auto rows = image.bytes.size() / row;  // NV12's colours are rows of that width too
  for (std::size_t y = 0; y < rows; ++y) {
    const auto shift = (y + static_cast<std::size_t>(kStep * (frames_ % kPeriod))) % kPeriod;
    std::memcpy(image.bytes.data() + y * row, row_.data() + shift * pixel, row);
  }
  return static_cast<std::int64_t>(static_cast<double>(frames_++) * 1e9 / picture.fps + 0.5);
}

}  // namespace ridgeline::stream
