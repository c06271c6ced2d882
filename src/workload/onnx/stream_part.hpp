// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "schema/stream_spec.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/preprocess_options.hpp"
#include "stream/result_decoder.hpp"
#include "workload/onnx/exporter_metadata.hpp"
#include "workload/onnx/image_input.hpp"

namespace ridgeline::workload {

/// One of the pipeline's models, as the settings describe it.
struct StreamPart {
  const std::string& file;
  const std::string& decoder;
  const std::vector<std::string>& labels;
  const std::optional<double>& score_threshold;
  double iou_threshold = 0.45;
  std::int64_t max_boxes = 300;
  const std::vector<std::string>& classes;
  const schema::StreamPreprocess& preprocess;
  double scale = 1;
  std::int64_t batch_size = 1;
  std::string_view prefix;  ///< of its settings: "" or "crop."
};

[[nodiscard]] StreamPart first_part(const schema::StreamSpec& spec);
[[nodiscard]] StreamPart crop_part(const schema::StreamSpec& spec);

/// What comes before a model. YOLOX takes bytes as they are, BGR, at the top left of the input, where the user says
/// nothing else. Errors: invalid_argument for settings out of range.
[[nodiscard]] base::Result<stream::PreprocessOptions> preprocess_options(const StreamPart& part,
                                                                         const ImageInput& input,
                                                                         const ExporterMetadata& metadata,
                                                                         std::string_view decoder);

/// Width and height of a model's input, -1 where it goes by the frame: those that are fixed, preprocess.size, or imgsz
/// of its metadata unless the user has given inference_scale. Errors: invalid_argument where preprocess.size
/// contradicts the model, or is no multiple of the stride.
struct InputSize {
  int width = -1;
  int height = -1;
  schema::Message note;  ///< where it is from the metadata; else empty
};
[[nodiscard]] base::Result<InputSize> input_size(const StreamPart& part, const ImageInput& input,
                                                 const ExporterMetadata& metadata, int stride);

/// What a model's outputs turned out to mean, from those of a first frame; valid for all its sessions.
struct ChosenDecoder {
  std::string name;
  stream::DecoderOptions options;
  std::vector<stream::OutputShape> shapes;
  std::vector<schema::Message> notes;
};

/// Finds the decoder, or checks the one that is named. `declared` are the outputs' shapes as the model has them, with
/// the batch. Errors: invalid_argument (values or shapes that the named decoder does not read; labels that do not fit;
/// classes that there are not; more than one picture for a model that has no dimension for the batch).
[[nodiscard]] base::Result<ChosenDecoder> choose_decoder(const StreamPart& part, const ExporterMetadata& metadata,
                                                         const std::vector<std::vector<std::int64_t>>& declared,
                                                         std::span<const stream::OutputView> outputs,
                                                         const stream::FrameGeometry& geometry);

}  // namespace ridgeline::workload
