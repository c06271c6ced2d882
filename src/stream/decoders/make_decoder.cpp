// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/make_decoder.hpp"

#include <algorithm>
#include <cstdint>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/boxes_decoder.hpp"
#include "stream/decoders/class_decoder.hpp"
#include "stream/decoders/ctc_decoder.hpp"
#include "stream/decoders/detr_decoder.hpp"
#include "stream/decoders/heatmap_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/ppocr_decoder.hpp"
#include "stream/decoders/simcc_decoder.hpp"
#include "stream/decoders/summary_decoder.hpp"
#include "stream/decoders/yolo_decoder.hpp"
#include "stream/decoders/yolo_nas_decoder.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

/// Decoders whose results have classes that may be left out.
bool has_box_classes(std::string_view name) {
  return name.starts_with("yolo") || name == "pose" || name == "obb" || name == "detr" || name == "boxes";
}

}  // namespace

base::Result<std::unique_ptr<ResultDecoder>> make_decoder(std::string_view name, const DecoderOptions& options,
                                                          std::span<const OutputShape> outputs, int input_width,
                                                          int input_height) {
  RL_TRY(check_box_options(options));
  if (!options.classes.empty() && !has_box_classes(name) && name != "auto")
    return fail(ErrorCode::invalid_argument, "classes: decoder {} has no boxes with classes to choose from", name)
        .hint("leave out classes, or name a decoder of boxes");
  if (name == "ppocr") return PpocrDecoder::make(options, outputs);
  if (name == "yolo") return YoloDecoder::make(YoloTask::detect, options, outputs, input_width, input_height);
  if (name == "pose") return YoloDecoder::make(YoloTask::pose, options, outputs, input_width, input_height);
  if (name == "obb") return YoloDecoder::make(YoloTask::obb, options, outputs, input_width, input_height);
  if (name == "yolox") return YoloDecoder::make_grid(options, outputs, input_width, input_height);
  if (name == "yolo-nas") return YoloNasDecoder::make(options, outputs);
  if (name == "boxes") return BoxesDecoder::make(options, outputs);
  if (name == "detr") return DetrDecoder::make(options, outputs);
  if (name == "simcc") return SimccDecoder::make(options, outputs);
  if (name == "heatmap") return HeatmapDecoder::make(options, outputs);
  if (name == "classify") return ClassDecoder::make(options, outputs);
  if (name == "ctc") return CtcDecoder::make(options, outputs);
  if (name == "none") return std::make_unique<SummaryDecoder>();
  return fail(ErrorCode::invalid_argument, "decoder {}: expected one of {}", name, fmt::join(kDecoderNames, ", "));
}

}  // namespace ridgeline::stream
