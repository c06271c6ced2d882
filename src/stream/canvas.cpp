// SPDX-License-Identifier: Apache-2.0
#include "stream/canvas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "stream/bitmap_font.hpp"

namespace ridgeline::stream {
namespace {

constexpr int kAdvance = kGlyphWidth + 1;  // from one character to the next

/// The part of from..to by which a line enters the picture's side 0..last, as shares; empty where it misses it.
bool clip_axis(double from, double to, double last, double& begin, double& end) {
  const double step = to - from;
  if (step == 0) return from >= 0 && from <= last;
  const double first = (step > 0 ? -from : last - from) / step;
  const double second = (step > 0 ? last - from : -from) / step;
  begin = std::max(begin, first);
  end = std::min(end, second);
  return begin <= end;
}

/// Of UTF-8: its character began before, and has its glyph.
bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

}  // namespace

void Canvas::fill(int left, int top, int width, int height, const Colour& colour) {
  const int right = std::min(left + width, image_.width);
  const int bottom = std::min(top + height, image_.height);
  left = std::max(left, 0);
  for (int y = std::max(top, 0); y < bottom; ++y) {
    auto* row = image_.bytes.data() + 3 * static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width);
    for (int x = left; x < right; ++x) std::copy(colour.begin(), colour.end(), row + 3 * static_cast<std::size_t>(x));
  }
}

void Canvas::line(int from_x, int from_y, int to_x, int to_y, int thickness, const Colour& colour) {
  // A line far outside would otherwise be walked pixel by pixel.
  double begin = 0;
  double end = 1;
  if (!clip_axis(from_x, to_x, image_.width - 1, begin, end)) return;
  if (!clip_axis(from_y, to_y, image_.height - 1, begin, end)) return;
  const double across = static_cast<double>(to_x) - from_x;
  const double down = static_cast<double>(to_y) - from_y;
  const double pixels = std::max(std::abs(across), std::abs(down)) * (end - begin);
  const int steps = std::max(1, static_cast<int>(pixels + 0.5));
  const int before = (thickness - 1) / 2;
  for (int i = 0; i <= steps; ++i) {
    const double at = begin + (end - begin) * i / steps;
    fill(static_cast<int>(from_x + at * across + 0.5) - before, static_cast<int>(from_y + at * down + 0.5) - before,
         thickness, thickness, colour);
  }
}

int Canvas::text_width(std::string_view text, int scale) noexcept {
  const auto characters = text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
  return scale * (kAdvance * static_cast<int>(characters) + 1);
}

int Canvas::text_height(int scale) noexcept { return scale * (kGlyphHeight + 2); }

void Canvas::text(int left, int top, std::string_view text, int scale, const Colour& colour, const Colour& ground) {
  left = std::max(0, std::min(left, image_.width - text_width(text, scale)));
  top = std::max(0, std::min(top, image_.height - text_height(scale)));
  fill(left, top, text_width(text, scale), text_height(scale), ground);
  int at = left + scale;
  for (const char character : text) {
    if (continues(character)) continue;
    const auto& columns = glyph_of(character);
    for (int x = 0; x < kGlyphWidth; ++x)
      for (int y = 0; y < kGlyphHeight; ++y)
        if ((columns[static_cast<std::size_t>(x)] >> y & 1) != 0)
          fill(at + scale * x, top + scale * (1 + y), scale, scale, colour);
    at += scale * kAdvance;
  }
}

}  // namespace ridgeline::stream
