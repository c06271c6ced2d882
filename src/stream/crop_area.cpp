// SPDX-License-Identifier: Apache-2.0
#include "stream/crop_area.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ridgeline::stream {
namespace {

constexpr double kTallLine = 1.5;
constexpr int kLongestCrop = 32768;

double length(const Point& vector) { return std::hypot(vector.x, vector.y); }

int whole_side(double side) { return static_cast<int>(std::clamp(std::round(side), 1.0, double{kLongestCrop})); }

std::size_t components_of(const Image& image) { return image.format == PixelFormat::gray8 ? 1 : 3; }

void copy_rows(const Image& frame, const CropArea& area, Image& crop) {
  const auto values = components_of(frame);
  const auto left = static_cast<std::size_t>(area.place.origin.x) * values;
  const auto top = static_cast<std::size_t>(area.place.origin.y);
  const auto row = static_cast<std::size_t>(area.width) * values;
  const auto stride = static_cast<std::size_t>(frame.width) * values;
  for (std::size_t y = 0; y < static_cast<std::size_t>(area.height); ++y)
    std::copy_n(frame.bytes.data() + (top + y) * stride + left, row, crop.bytes.data() + y * row);
}

void sample(const Image& frame, const Point& at, std::size_t values, std::uint8_t* out) {
  const double x = std::clamp(at.x - 0.5, 0.0, static_cast<double>(frame.width - 1));
  const double y = std::clamp(at.y - 0.5, 0.0, static_cast<double>(frame.height - 1));
  const auto left = static_cast<std::size_t>(x);
  const auto top = static_cast<std::size_t>(y);
  const double to_right = x - static_cast<double>(left);
  const double to_bottom = y - static_cast<double>(top);
  const std::size_t right = std::min(left + 1, static_cast<std::size_t>(frame.width - 1));
  const std::size_t bottom = std::min(top + 1, static_cast<std::size_t>(frame.height - 1));
  const auto pixel = [&](std::size_t column, std::size_t row) {
    return frame.bytes.data() + (row * static_cast<std::size_t>(frame.width) + column) * values;
  };
  const auto* a = pixel(left, top);
  const auto* b = pixel(right, top);
  const auto* c = pixel(left, bottom);
  const auto* d = pixel(right, bottom);
  for (std::size_t i = 0; i < values; ++i) {
    const double upper = a[i] + (b[i] - a[i]) * to_right;
    const double lower = c[i] + (d[i] - c[i]) * to_right;
    out[i] = static_cast<std::uint8_t>(upper + (lower - upper) * to_bottom + 0.5);
  }
}

}  // namespace

CropArea area_around(const FoundBox& box, double margin, int frame_width, int frame_height) {
  const auto side = [margin](float low, float high, int frame, int& length_out) {
    const double more = margin * (static_cast<double>(high) - static_cast<double>(low));
    const double first = std::clamp(std::floor(static_cast<double>(low) - more), 0.0, frame - 1.0);
    const double last = std::clamp(std::ceil(static_cast<double>(high) + more), first + 1, static_cast<double>(frame));
    length_out = static_cast<int>(last - first);
    return first;
  };
  CropArea area;
  area.is_upright = true;
  area.place.frame_width = frame_width;
  area.place.frame_height = frame_height;
  area.place.origin.x = side(box.left, box.right, frame_width, area.width);
  area.place.origin.y = side(box.top, box.bottom, frame_height, area.height);
  return area;
}

CropArea area_around(const Quad& quad, double margin, int frame_width, int frame_height) {
  Point corner = quad[0];
  Point across = quad[1] - quad[0];
  Point down = quad[3] - quad[0];
  corner = corner - (across + down) * margin;
  across = across * (1 + 2 * margin);
  down = down * (1 + 2 * margin);
  if (length(down) >= kTallLine * length(across)) {
    corner = corner + across;
    const auto back = across * -1;
    across = down;
    down = back;
  }
  CropArea area;
  area.width = whole_side(length(across));
  area.height = whole_side(length(down));
  area.place = {corner, across * (1.0 / area.width), down * (1.0 / area.height), frame_width, frame_height};
  return area;
}

void cut(const Image& frame, const CropArea& area, Image& crop) {
  crop.width = area.width;
  crop.height = area.height;
  crop.format = frame.format;
  crop.bytes.resize(image_bytes(area.width, area.height, frame.format));
  const auto& [origin, across, down, frame_width, frame_height] = area.place;
  if (area.is_upright) return copy_rows(frame, area, crop);
  const auto values = components_of(frame);
  auto* out = crop.bytes.data();
  for (int y = 0; y < area.height; ++y)
    for (int x = 0; x < area.width; ++x, out += values)
      sample(frame, origin + across * (x + 0.5) + down * (y + 0.5), values, out);
}

}  // namespace ridgeline::stream
