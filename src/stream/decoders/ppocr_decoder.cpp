// SPDX-License-Identifier: Apache-2.0
// PaddleOCR takes contours (cv2.findContours), their smallest rectangle (cv2.minAreaRect), its mean probability, and
// grows the rectangle with round corners (pyclipper), around which it takes the smallest rectangle again. Here regions
// replace contours: their hulls are the same, and holes are no boxes of their own. The last two steps are one: a
// rectangle with round corners has the rectangle that is larger by the distance on each side as its smallest.
#include "stream/decoders/ppocr_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/output_map.hpp"
#include "stream/decoders/result_text.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

// PaddleOCR's: of the map's pixels, between the centres of the outermost ones; two more after growing.
constexpr double kMinSide = 3;
constexpr double kMinGrownSide = kMinSide + 2;
constexpr std::size_t kMostCandidates = 1000;
constexpr std::int64_t kLongestMapSide = 32768;

// What the regions of a map of text are: parts of the map, which fill their rectangles.
constexpr double kMostOfMap = 0.25;
constexpr double kLeastOfRectangle = 0.6;

bool is_map(std::span<const std::int64_t> dims) {
  if (dims.size() == 3 && (dims[0] == 1 || dims[0] < 0)) dims = dims.subspan(1);
  return dims.size() == 2 && dims[0] != 0 && dims[1] != 0 && dims[0] <= kLongestMapSide && dims[1] <= kLongestMapSide;
}

}  // namespace

base::Result<std::unique_ptr<ResultDecoder>> PpocrDecoder::make(const DecoderOptions& options,
                                                                std::span<const OutputShape> outputs) {
  const double score = options.score_threshold.value_or(0.6);
  if (!(options.text_threshold >= 0 && options.text_threshold <= 1))
    return fail(ErrorCode::invalid_argument, "text_threshold {} is outside 0..1", options.text_threshold);
  if (!(options.unclip_ratio >= 0 && options.unclip_ratio <= 10))
    return fail(ErrorCode::invalid_argument, "unclip_ratio {} is outside 0..10", options.unclip_ratio);
  if (outputs.size() != 1 || !is_map(outputs[0].dims))
    return fail(ErrorCode::invalid_argument, "decoder ppocr: {}: expected one map of 1xHxW", shapes_text(outputs));
  return std::unique_ptr<ResultDecoder>(new PpocrDecoder(options.text_threshold, score, options.unclip_ratio));
}

RotatedRectangle PpocrDecoder::rectangle_around(std::span<const PixelRun> runs) {
  points_.clear();
  for (std::size_t i = 0; i < runs.size();) {
    const auto row = runs[i].row;
    const auto first = runs[i].begin;
    while (i + 1 < runs.size() && runs[i + 1].row == row) ++i;
    const auto last = runs[i].end - 1;
    points_.push_back({static_cast<double>(first), static_cast<double>(row)});
    if (last > first) points_.push_back({static_cast<double>(last), static_cast<double>(row)});
    ++i;
  }
  convex_hull(points_, hull_);
  return min_area_rectangle(hull_);
}

/// Over the pixels that cv2.fillPoly sets for the corners cut to whole pixels, as box_score_fast does: those inside and
/// those on the sides' lines.
double PpocrDecoder::mean_inside(const Map& map, const RotatedRectangle& rectangle) {
  const auto corners = rectangle.corners();
  struct Pixel {
    std::int32_t x, y;
  };
  std::array<Pixel, 4> pixels;
  for (std::size_t i = 0; i < 4; ++i)
    pixels[i] = {std::clamp(static_cast<std::int32_t>(corners[i].x), 0, map.width - 1),
                 std::clamp(static_cast<std::int32_t>(corners[i].y), 0, map.height - 1)};
  const auto [highest, lowest] =
      std::minmax_element(pixels.begin(), pixels.end(), [](const Pixel& a, const Pixel& b) { return a.y < b.y; });
  const std::int32_t top = highest->y;
  extents_.assign(static_cast<std::size_t>(lowest->y - top + 1), {map.width, -1});
  for (std::size_t i = 0; i < 4; ++i) {
    const Pixel from = pixels[i];
    const Pixel to = pixels[(i + 1) % 4];
    const std::int32_t steps = std::max({std::abs(to.x - from.x), std::abs(to.y - from.y), 1});
    const double step_x = static_cast<double>(to.x - from.x) / steps;
    const double step_y = static_cast<double>(to.y - from.y) / steps;
    for (std::int32_t k = 0; k <= steps; ++k) {
      const auto x = static_cast<std::int32_t>(from.x + k * step_x + 0.5);
      const auto y = static_cast<std::int32_t>(from.y + k * step_y + 0.5);
      auto& extent = extents_[static_cast<std::size_t>(y - top)];
      extent.first = std::min(extent.first, x);
      extent.last = std::max(extent.last, x);
    }
  }
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const float* row = map.values + (static_cast<std::size_t>(top) + i) * static_cast<std::size_t>(map.width);
    for (std::int32_t x = extents_[i].first; x <= extents_[i].last; ++x) sum += static_cast<double>(row[x]);
    count += extents_[i].last - extents_[i].first + 1;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

void PpocrDecoder::append_box(const Map& map, const RotatedRectangle& rectangle, double score,
                              const FrameGeometry& geometry, std::string& json) {
  const double to_input_x = static_cast<double>(geometry.input_width) / map.width;
  const double to_input_y = static_cast<double>(geometry.input_height) / map.height;
  auto corners = rectangle.corners();
  for (auto& corner : corners) corner = geometry.to_frame_within(corner.x * to_input_x, corner.y * to_input_y);
  json += boxes_.empty() ? R"({"points":[)" : R"(,{"points":[)";
  for (std::size_t i = 0; i < 4; ++i) {
    json += i == 0 ? "[" : ",[";
    append_coordinate(json, corners[i].x);
    json += ',';
    append_coordinate(json, corners[i].y);
    json += ']';
  }
  json += R"(],"score":)";
  append_score(json, score);
  json += '}';
  quads_.push_back(corners);
  boxes_.push_back(upright_box(corners));
  boxes_.back().score = static_cast<float>(score);
}

base::Result<void> PpocrDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                        std::string& json) {
  boxes_.clear();
  quads_.clear();
  if (outputs.size() != 1 || !is_map(outputs[0].dims))
    return fail(ErrorCode::invalid_argument, "decoder ppocr: {}: expected one map of 1xHxW", shapes_text(outputs));
  RL_TRY(check_size(outputs[0]));
  const auto dims = outputs[0].dims.last(2);
  const Map map{outputs[0].values.data(), static_cast<std::int32_t>(dims[1]), static_cast<std::int32_t>(dims[0])};
  if (!regions_.find(outputs[0].values, map.width, map.height, static_cast<float>(text_threshold_)))
    return nan_fault(outputs[0], find_nan(outputs[0].values));
  json += R"({"boxes":[)";
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < regions_.size() && candidates < kMostCandidates; ++i) {
    const auto rectangle = rectangle_around(regions_.region(i));
    if (rectangle.shorter_side() < kMinSide) continue;
    ++candidates;
    const double score = mean_inside(map, rectangle);
    if (!(score >= score_threshold_)) continue;
    const double area = rectangle.width * rectangle.height;
    const double perimeter = 2 * (rectangle.width + rectangle.height);
    const auto grown = rectangle.grown(area * unclip_ratio_ / perimeter);
    if (grown.shorter_side() < kMinGrownSide) continue;
    append_box(map, grown, score, geometry, json);
  }
  json += "]}";
  return {};
}

std::optional<schema::Message> PpocrDecoder::region_mismatch(const OutputView& output) const {
  PpocrDecoder other(text_threshold_, score_threshold_, unclip_ratio_);
  const auto dims = output.dims.last(2);
  if (!other.regions_.find(output.values, static_cast<std::int32_t>(dims[1]), static_cast<std::int32_t>(dims[0]),
                           static_cast<float>(text_threshold_)))
    return std::nullopt;
  double pixels = 0;
  double area = 0;
  for (std::size_t i = 0; i < other.regions_.size(); ++i) {
    const auto runs = other.regions_.region(i);
    const auto rectangle = other.rectangle_around(runs);
    if (rectangle.shorter_side() < kMinSide) continue;
    double inside = 0;
    for (const auto& run : runs) inside += run.end - run.begin;
    const double share = inside / static_cast<double>(dims[0] * dims[1]);
    if (share > kMostOfMap) return messages::wrong_text_region(share);
    pixels += inside;
    area += (rectangle.width + 1) * (rectangle.height + 1);  // between the centres of pixels
  }
  if (pixels < kLeastOfRectangle * area) return messages::wrong_text_regions(pixels / area);
  return std::nullopt;
}

std::optional<schema::Message> PpocrDecoder::mismatch(std::span<const OutputView> outputs,
                                                      const FrameGeometry& /*geometry*/, bool named) const {
  if (outputs.size() != 1 || !is_map(outputs[0].dims)) return messages::no_text_map();
  if (const auto checked = check_values(outputs[0]); !checked) return messages::wrong_outputs(checked.error().message);
  if (auto wrong = probability_mismatch(outputs[0])) return wrong;
  return named ? std::nullopt : region_mismatch(outputs[0]);
}

}  // namespace ridgeline::stream
