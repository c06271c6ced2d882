// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/heatmap_decoder.hpp"

#include <algorithm>
#include <limits>

#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/output_map.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr double kQuarter = 0.25;

double towards_higher(float before, float after) {
  return after > before ? kQuarter : after < before ? -kQuarter : 0.0;
}

base::Fault heatmap_fault(const std::string& shapes) {
  return fail(ErrorCode::invalid_argument, "decoder heatmap: {}: expected maps of KxHxW first", shapes);
}

bool has_maps(std::span<const std::int64_t> dims) {
  return dims.size() == 3 && dims[0] != 0 && dims[1] != 0 && dims[2] != 0;
}

}  // namespace

base::Result<std::unique_ptr<ResultDecoder>> HeatmapDecoder::make(const DecoderOptions& options,
                                                                  std::span<const OutputShape> outputs) {
  if (outputs.empty() || !has_maps(outputs[0].dims)) return heatmap_fault(shapes_text(outputs));
  RL_TRY(check_keypoint_labels("heatmap", outputs[0], options.labels.size()));
  return std::unique_ptr<ResultDecoder>(new HeatmapDecoder(options));
}

HeatmapDecoder::HeatmapDecoder(const DecoderOptions& options)
    : labels_(options.labels),
      score_threshold_(options.score_threshold.value_or(-std::numeric_limits<double>::infinity())) {}

base::Result<void> HeatmapDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) {
  if (outputs.empty() || !has_maps(outputs[0].dims)) return heatmap_fault(shapes_text(outputs));
  RL_TRY(check_values(outputs[0]));
  const auto height = static_cast<std::size_t>(outputs[0].dims[1]);
  const auto width = static_cast<std::size_t>(outputs[0].dims[2]);
  points_.clear();
  for (std::size_t k = 0; k < static_cast<std::size_t>(outputs[0].dims[0]); ++k) {
    const auto map = outputs[0].values.subspan(k * width * height, width * height);
    const auto best = static_cast<std::size_t>(std::max_element(map.begin(), map.end()) - map.begin());
    const std::size_t x = best % width;
    const std::size_t y = best / width;
    double x_map = static_cast<double>(x);
    double y_map = static_cast<double>(y);
    if (x > 0 && x + 1 < width) x_map += towards_higher(map[best - 1], map[best + 1]);
    if (y > 0 && y + 1 < height) y_map += towards_higher(map[best - width], map[best + width]);
    const auto place = geometry.to_frame(x_map * geometry.input_width / static_cast<double>(width),
                                         y_map * geometry.input_height / static_cast<double>(height));
    points_.push_back({place.x, place.y, static_cast<double>(map[best])});
  }
  append_keypoints(json, points_, score_threshold_, labels_);
  return {};
}

std::optional<schema::Message> HeatmapDecoder::mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& /*geometry*/, bool named) const {
  if (outputs.empty() || !has_maps(outputs[0].dims))
    return messages::wrong_outputs(heatmap_fault(shapes_text(outputs)).value().message);
  if (const auto checked = check_values(outputs[0]); !checked) return messages::wrong_outputs(checked.error().message);
  return peak_mismatch(outputs[0], named);
}

}  // namespace ridgeline::stream
