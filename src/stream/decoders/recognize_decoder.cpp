// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/recognize_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "stream/decoders/boxes_decoder.hpp"
#include "stream/decoders/class_decoder.hpp"
#include "stream/decoders/ctc_decoder.hpp"
#include "stream/decoders/distribution.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/output_map.hpp"
#include "stream/decoders/simcc_decoder.hpp"
#include "stream/decoders/yolo_layout.hpp"

namespace ridgeline::stream {
namespace {

using Shapes = std::span<const OutputShape>;

constexpr std::size_t kImageNetClasses = 1000;
constexpr std::int64_t kMostKnownClasses = 2000;  // more are characters or words; `yolo` reads them where it is named

/// In the order in which they are considered: the values of one tell those before it apart.
constexpr std::array<std::string_view, 12> kOrder{"simcc", "ppocr", "heatmap", "detr", "boxes", "yolo-nas",
                                                  "yolox", "pose",  "yolo",    "obb",  "ctc",   "classify"};

/// Distributions over columns and rows have a whole number of places a pixel, the same for both.
bool looks_like_simcc(Shapes outputs, std::int64_t width, std::int64_t height) {
  const auto columns = find_simcc_columns(outputs);
  if (!columns) return false;
  if (mentions(outputs[0], "simcc") && mentions(outputs[1], "simcc")) return true;
  const auto across = outputs[*columns].dims[1];
  const auto down = outputs[1 - *columns].dims[1];
  return width > 0 && height > 0 && across >= width && down >= height && across / width == down / height &&
         across % width == 0 && down % height == 0;
}

/// One map of the input's size.
bool looks_like_text_map(Shapes outputs, std::int64_t width, std::int64_t height) {
  return outputs.size() == 1 && outputs[0].dims.size() == 3 && outputs[0].dims[0] == 1 &&
         outputs[0].dims[1] == height && outputs[0].dims[2] == width;
}

/// Masks of a foreground are maps of one class too: only exporters of PaddleOCR and its like name theirs so.
bool is_named_as_text(const OutputShape& map) {
  return std::ranges::any_of(std::array{"sigmoid_", "fetch_name", "save_infer_model", "text", "maps"},
                             [&](auto word) { return mentions(map, word); });
}

/// Maps of a whole fraction of the input's size; at full size they are more likely to be a segmentation.
bool looks_like_heatmaps(Shapes outputs, std::int64_t width, std::int64_t height) {
  if (outputs.size() != 1 || outputs[0].dims.size() != 3 || outputs[0].dims[0] == 0) return false;
  if (mentions(outputs[0], "heatmap")) return true;
  const auto down = outputs[0].dims[1];
  const auto across = outputs[0].dims[2];
  return across > 0 && down > 0 && across <= width / 2 && width % across == 0 && height % down == 0 &&
         width / across == height / down;
}

/// Other models give one row of a few values too: boxes are many, or are final.
bool looks_like_boxes(Shapes outputs) {
  if (outputs.empty() || outputs[0].dims.size() != 2) return false;
  const auto& dims = outputs[0].dims;
  return dims[0] != 1 && dims[1] != 1 && std::min(dims[0], dims[1]) <= kMostKnownClasses &&
         (outputs.size() == 1 || outputs[1].dims.size() >= 3);
}

/// Each row adds up to 1: a distribution, of characters or classes, and no box.
bool has_distributions(std::span<const OutputView> outputs) {
  const auto& [name, dims, values, is_integer] = outputs[0];
  if (dims.size() != 2 || dims[0] < 1 || dims[1] < 1) return false;
  const auto columns = static_cast<std::size_t>(dims[1]);
  for (std::size_t at = 0; at + columns <= values.size(); at += columns)
    if (!is_distribution(values.subspan(at, columns))) return false;
  return true;
}

/// Vectors are many things: their size has to agree with the labels, or be ImageNet's.
bool looks_like_classes(const DecoderOptions& options, Shapes outputs) {
  const auto labels = options.labels.size();
  if (options.task == "classify") return find_class_output(outputs, labels).has_value();
  const auto place = find_class_output(outputs, labels > 0 ? labels : kImageNetClasses);
  return place && std::ranges::all_of(outputs[*place].dims, [](auto dim) { return dim > 0; });
}

bool fits_task(std::string_view task, std::string_view decoder) {
  if (task.empty()) return true;
  if (task == "segment") return decoder == "yolo";
  if (task == "detect")
    return decoder == "yolo" || decoder == "yolox" || decoder == "yolo-nas" || decoder == "detr" || decoder == "boxes";
  return task == decoder;
}

bool fits_shapes(std::string_view decoder, const DecoderOptions& options, Shapes outputs,
                 std::span<const OutputView> views, const FrameGeometry& geometry) {
  const auto width = geometry.input_width;
  const auto height = geometry.input_height;
  if (decoder == "simcc") return looks_like_simcc(outputs, width, height);
  if (decoder == "ppocr") return looks_like_text_map(outputs, width, height);
  if (decoder == "heatmap") return looks_like_heatmaps(outputs, width, height);
  if (decoder == "detr" && outputs.size() > 1) return true;
  if (decoder == "boxes" || decoder == "yolo-nas") return true;
  if (decoder == "ctc") return is_ctc_output(outputs, options.labels.size()) && outputs[0].dims[1] > 0;
  if (decoder == "classify") return looks_like_classes(options, outputs);
  return looks_like_boxes(outputs) && !has_distributions(views);
}

/// Of models that no decoder reads, but which can be named.
std::optional<messages::DecoderNotFoundKind> known_kind(Shapes shapes, std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry) {
  using enum messages::DecoderNotFoundKind;
  const auto has = [&](auto fits) { return std::any_of(shapes.begin(), shapes.end(), fits); };
  const bool has_scored_boxes = has([](const OutputShape& one) { return one.dims.size() == 2 && one.dims[1] == 5; });
  const bool has_poses = has([](const OutputShape& one) { return one.dims.size() == 3 && one.dims[2] == 3; });
  if (shapes.size() > 1 && has_scored_boxes && has_poses) return poses;
  if (looks_like_segmentation(outputs, geometry)) return segmentation;
  return std::nullopt;
}

/// YOLOX that decodes its own boxes has the layout of YOLOv6, with a frame at another place.
bool may_be_decoded_yolox(Shapes shapes, std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  if (!find_grid_layout({}, shapes, geometry.input_width, geometry.input_height)) return false;
  const auto& dims = outputs[0].dims;
  const auto channels = static_cast<std::size_t>(dims[1]);
  for (std::size_t at = 4; at < outputs[0].values.size(); at += channels)
    if (outputs[0].values[at] != 1) return true;
  return false;
}

}  // namespace

RecognizedDecoder recognize_decoder(const DecoderOptions& options, Shapes shapes, std::span<const OutputView> outputs,
                                    const FrameGeometry& geometry) {
  std::vector<schema::Message> considered;
  for (const auto name : kOrder) {
    if (!fits_task(options.task, name) || !fits_shapes(name, options, shapes, outputs, geometry)) continue;
    const auto decoder = make_decoder(name, options, shapes, geometry.input_width, geometry.input_height);
    if (!decoder) continue;
    auto wrong = (*decoder)->mismatch(outputs, geometry, false);
    if (!wrong && name == "ppocr" && !is_named_as_text(shapes[0])) wrong = messages::may_be_mask();
    if (wrong) {
      considered.push_back(
          messages::decoder_refused({.decoder = std::string(name), .layout = (*decoder)->layout(), .why = *wrong}));
      continue;
    }
    auto reading = messages::reading({.outputs = shape_messages(shapes), .layout = (*decoder)->layout()});
    auto note = name == "yolo" && may_be_decoded_yolox(shapes, outputs, geometry)
                    ? messages::decoder_yolo_or_yolox(reading)
                    : messages::decoder_found({.decoder = std::string(name), .reading = reading});
    return {name, std::move(note), std::move(reading)};
  }
  return {"none", messages::decoder_not_found({.outputs = shape_messages(shapes),
                                               .kind = known_kind(shapes, outputs, geometry),
                                               .considered = std::move(considered),
                                               .task = options.task})};
}

}  // namespace ridgeline::stream
