// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/simcc_decoder.hpp"

#include <algorithm>
#include <limits>

#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

struct Peak {
  std::size_t place;
  double value;
};

Peak peak_of(std::span<const float> row) {
  const auto best = std::max_element(row.begin(), row.end());
  return {static_cast<std::size_t>(best - row.begin()), static_cast<double>(*best)};
}

base::Fault simcc_fault(const std::string& shapes) {
  return fail(ErrorCode::invalid_argument, "decoder simcc: {}: expected two outputs, K x columns and K x rows", shapes);
}

}  // namespace

std::optional<std::size_t> find_simcc_columns(std::span<const OutputShape> outputs) {
  if (outputs.size() != 2 || outputs[0].dims.size() != 2 || outputs[1].dims.size() != 2) return std::nullopt;
  const auto first = outputs[0].dims[0];
  const auto second = outputs[1].dims[0];
  if (first == 0 || second == 0 || (first > 0 && second > 0 && first != second)) return std::nullopt;
  const auto ends_with = [&](std::size_t i, char letter) {
    return !outputs[i].name.empty() && outputs[i].name.back() == letter;
  };
  return ends_with(0, 'y') && ends_with(1, 'x') ? 1U : 0U;
}

base::Result<std::unique_ptr<ResultDecoder>> SimccDecoder::make(const DecoderOptions& options,
                                                                std::span<const OutputShape> outputs) {
  const auto columns = find_simcc_columns(outputs);
  if (!columns) return simcc_fault(shapes_text(outputs));
  RL_TRY(check_keypoint_labels("simcc", outputs[0], options.labels.size()));
  return std::unique_ptr<ResultDecoder>(new SimccDecoder(options, *columns));
}

SimccDecoder::SimccDecoder(const DecoderOptions& options, std::size_t columns)
    : columns_(columns),
      labels_(options.labels),
      score_threshold_(options.score_threshold.value_or(-std::numeric_limits<double>::infinity())) {}

base::Result<void> SimccDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                        std::string& json) {
  if (outputs.size() != 2 || outputs[0].dims.size() != 2 || outputs[1].dims.size() != 2 ||
      outputs[0].dims[0] != outputs[1].dims[0])
    return simcc_fault(shapes_text(outputs));
  for (const auto& output : outputs) {
    RL_TRY(check_values(output));
    if (output.values.empty()) return simcc_fault(shapes_text(outputs));
  }
  const auto& columns = outputs[columns_];
  const auto& rows = outputs[1 - columns_];
  const auto width = static_cast<std::size_t>(columns.dims[1]);
  const auto height = static_cast<std::size_t>(rows.dims[1]);
  points_.clear();
  for (std::size_t k = 0; k < static_cast<std::size_t>(columns.dims[0]); ++k) {
    const auto x = peak_of(columns.values.subspan(k * width, width));
    const auto y = peak_of(rows.values.subspan(k * height, height));
    const double x_input = static_cast<double>(x.place) * geometry.input_width / static_cast<double>(width);
    const double y_input = static_cast<double>(y.place) * geometry.input_height / static_cast<double>(height);
    const auto place = geometry.to_frame(x_input, y_input);
    points_.push_back({place.x, place.y, std::min(x.value, y.value)});
  }
  append_keypoints(json, points_, score_threshold_, labels_);
  return {};
}

}  // namespace ridgeline::stream
