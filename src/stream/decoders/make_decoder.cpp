// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/make_decoder.hpp"

#include <algorithm>
#include <cstdint>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/class_decoder.hpp"
#include "stream/decoders/ctc_decoder.hpp"
#include "stream/decoders/detr_decoder.hpp"
#include "stream/decoders/heatmap_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/ppocr_decoder.hpp"
#include "stream/decoders/simcc_decoder.hpp"
#include "stream/decoders/summary_decoder.hpp"
#include "stream/decoders/yolo_decoder.hpp"
#include "stream/decoders/yolo_layout.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kImageNetClasses = 1000;
constexpr std::int64_t kMostKnownClasses = 2000;  // more are characters or words; `yolo` reads them where it is named

bool mentions(const OutputShape& output, std::string_view word) { return output.name.find(word) != std::string::npos; }

/// Distributions over columns and rows have a whole number of places a pixel, the same for both.
bool looks_like_simcc(std::span<const OutputShape> outputs, std::int64_t width, std::int64_t height) {
  const auto columns = find_simcc_columns(outputs);
  if (!columns) return false;
  if (mentions(outputs[0], "simcc") && mentions(outputs[1], "simcc")) return true;
  const auto across = outputs[*columns].dims[1];
  const auto down = outputs[1 - *columns].dims[1];
  return width > 0 && height > 0 && across >= width && down >= height && across / width == down / height &&
         across % width == 0 && down % height == 0;
}

/// One map of the input's size; a size that is not known fits.
bool looks_like_text_map(std::span<const OutputShape> outputs, std::int64_t width, std::int64_t height) {
  if (outputs.size() != 1 || outputs[0].dims.size() != 3 || outputs[0].dims[0] != 1) return false;
  const auto fits = [](std::int64_t dim, std::int64_t side) { return dim < 0 || side < 0 || dim == side; };
  return fits(outputs[0].dims[1], height) && fits(outputs[0].dims[2], width);
}

/// Maps of a whole fraction of the input's size; at full size they are more likely to be a segmentation.
bool looks_like_heatmaps(std::span<const OutputShape> outputs, std::int64_t width, std::int64_t height) {
  if (outputs.size() != 1 || outputs[0].dims.size() != 3 || outputs[0].dims[0] == 0) return false;
  if (mentions(outputs[0], "heatmap")) return true;
  const auto down = outputs[0].dims[1];
  const auto across = outputs[0].dims[2];
  return across > 0 && down > 0 && across <= width / 2 && width % across == 0 && height % down == 0 &&
         width / across == height / down;
}

}  // namespace

RecognizedDecoder recognize_decoder(const DecoderOptions& options, std::span<const OutputShape> outputs,
                                    int input_width, int input_height) {
  const auto shapes = shapes_text(outputs);
  if (looks_like_simcc(outputs, input_width, input_height))
    return {"simcc", fmt::format("{}: distributions over columns and rows", shapes)};
  if (looks_like_text_map(outputs, input_width, input_height))
    return {"ppocr", fmt::format("{}: one map of the input's size", shapes)};
  if (looks_like_heatmaps(outputs, input_width, input_height))
    return {"heatmap", fmt::format("{}: maps smaller than the input", shapes)};
  if (const auto detr = find_detr_outputs(outputs))
    return {"detr", fmt::format("{}: {}", shapes, detr->labels ? "labels, boxes and scores" : "logits and boxes")};
  // Other models give one row of a few values too: boxes are many, or are final.
  const bool is_table = !outputs.empty() && outputs[0].dims.size() == 2 &&
                        (outputs[0].dims[0] != 1 && outputs[0].dims[1] != 1) &&
                        (outputs.size() == 1 || outputs[1].dims.size() >= 3);
  if (const auto layout = find_yolo_layout(options.labels, outputs, input_width, input_height);
      layout && is_table && layout->classes <= kMostKnownClasses)
    return {"yolo", fmt::format("{}: {}", shapes, to_text(*layout))};
  // Vectors are many things: their size has to be known and to agree with the labels.
  const auto labels = options.labels.size();
  if (is_ctc_output(outputs, labels) && outputs[0].dims[1] > 0)
    return {"ctc", fmt::format("{}: a character a step, of {} labels", shapes, labels)};
  if (const auto place = find_class_output(outputs, labels > 0 ? labels : kImageNetClasses);
      place && std::ranges::all_of(outputs[*place].dims, [](auto dim) { return dim > 0; }))
    return {"classify", fmt::format("{}: one value a class", shapes)};
  return {"none", fmt::format("{}: no decoder reads these", shapes)};
}

base::Result<std::unique_ptr<ResultDecoder>> make_decoder(std::string_view name, const DecoderOptions& options,
                                                          std::span<const OutputShape> outputs, int input_width,
                                                          int input_height) {
  if (name == "auto") name = recognize_decoder(options, outputs, input_width, input_height).name;
  RL_TRY(check_box_options(options));
  if (name == "ppocr") return PpocrDecoder::make(options, outputs);
  if (name == "yolo") return YoloDecoder::make(options, outputs, input_width, input_height);
  if (name == "detr") return DetrDecoder::make(options, outputs);
  if (name == "simcc") return SimccDecoder::make(options, outputs);
  if (name == "heatmap") return HeatmapDecoder::make(options, outputs);
  if (name == "classify") return ClassDecoder::make(options, outputs);
  if (name == "ctc") return CtcDecoder::make(options, outputs);
  if (name == "none") return std::make_unique<SummaryDecoder>();
  return fail(ErrorCode::invalid_argument, "decoder {}: expected one of {}", name, fmt::join(kDecoderNames, ", "));
}

}  // namespace ridgeline::stream
