// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/output_map.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stream/decoders/box_table.hpp"
#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

constexpr float kLowestHeight = -1;   // of what a network has for 0
constexpr float kHighestHeight = 2;   // of what it has for 1
constexpr float kNoPeak = 0.05F;      // a keypoint that is not in the picture
constexpr double kWidestPeak = 0.25;  // of a map's pixels that are above half its height
constexpr double kSumTolerance = 0.01;

bool all_whole(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return value == std::round(value); });
}

/// Whether the values of each pixel add up to 1 over all maps.
bool is_distribution_by_pixel(std::span<const float> values, std::size_t maps, std::size_t pixels) {
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    double sum = 0;
    for (std::size_t k = 0; k < maps; ++k) sum += static_cast<double>(values[k * pixels + pixel]);
    if (std::abs(sum - 1) > kSumTolerance) return false;
  }
  return true;
}

bool has_ratio_of_input(std::int64_t width, std::int64_t height, const FrameGeometry& geometry) {
  if (width < 2 || height < 2 || width > geometry.input_width || height > geometry.input_height) return false;
  const double across = static_cast<double>(geometry.input_width) / static_cast<double>(width);
  const double down = static_cast<double>(geometry.input_height) / static_cast<double>(height);
  constexpr double kRounded = 0.05;  // a side that a convolution rounded
  return std::abs(across / down - 1) <= kRounded;
}

}  // namespace

std::optional<schema::Message> peak_mismatch(const OutputView& maps, bool named) {
  const auto count = static_cast<std::size_t>(maps.dims[0]);
  const auto pixels = static_cast<std::size_t>(maps.dims[1] * maps.dims[2]);
  if (count == 0 || pixels == 0) return std::nullopt;
  ValueRange range;
  for (const float value : maps.values) range.add(value);
  if (range.low < kLowestHeight || range.high > kHighestHeight)
    return messages::wrong_heights({.low = static_cast<double>(range.low), .high = static_cast<double>(range.high)});
  if (count > 1 && is_distribution_by_pixel(maps.values, count, pixels)) return messages::maps_of_classes();
  if (maps.is_integer) return messages::maps_of_numbers();
  std::size_t peaked = 0;
  std::size_t wide = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto map = maps.values.subspan(k * pixels, pixels);
    const float height = *std::max_element(map.begin(), map.end());
    if (height < kNoPeak) continue;
    ++peaked;
    const auto above = std::count_if(map.begin(), map.end(), [&](float value) { return value > height / 2; });
    wide += static_cast<double>(above) > std::max(1.0, kWidestPeak * static_cast<double>(pixels)) ? 1 : 0;
  }
  if (2 * wide > peaked) return messages::maps_of_regions();
  if (!named && peaked == 0) return messages::maps_without_peak();
  return std::nullopt;
}

std::optional<schema::Message> probability_mismatch(const OutputView& map) {
  if (map.is_integer) return messages::maps_of_numbers();
  ValueRange range;
  for (const float value : map.values) range.add(value);
  return score_mismatch(range);
}

bool looks_like_segmentation(std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  if (outputs.empty()) return false;
  const auto& dims = outputs[0].dims;
  const auto fits = [&](std::size_t down, std::size_t across) {
    return has_ratio_of_input(dims[across], dims[down], geometry);
  };
  const bool has_classes = outputs[0].is_integer || all_whole(outputs[0].values);
  if (dims.size() == 2) return has_classes && fits(0, 1);
  if (dims.size() != 3) return false;
  if (dims[0] == 1) return has_classes && fits(1, 2);
  return fits(1, 2) || fits(0, 1);
}

}  // namespace ridgeline::stream
