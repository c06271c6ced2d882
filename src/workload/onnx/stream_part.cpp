// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/stream_part.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/suggestion.hpp"
#include "stream/decoders/boxes_decoder.hpp"
#include "stream/decoders/class_decoder.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/recognize_decoder.hpp"
#include "stream/preprocessor.hpp"
#include "stream/words.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kYolox = "yolox";
constexpr std::size_t kFewNames = 5;

/// "person, bicycle, ... (80)"
std::string few_of(const std::vector<std::string>& names) {
  const auto few = std::span(names).first(std::min(kFewNames, names.size()));
  return fmt::format("{}{}", fmt::join(few, ", "), names.size() > kFewNames ? ", ..." : "");
}

base::Result<std::vector<int>> class_numbers(const StreamPart& part, const std::vector<std::string>& labels) {
  std::vector<int> numbers;
  for (const auto& wanted : part.classes) {
    int number = -1;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    const bool is_number = error == std::errc() && end == wanted.data() + wanted.size();
    if (const auto named = std::find(labels.begin(), labels.end(), wanted); named != labels.end())
      numbers.push_back(static_cast<int>(named - labels.begin()));
    else if (is_number && number >= 0 && (labels.empty() || static_cast<std::size_t>(number) < labels.size()))
      numbers.push_back(number);
    else
      return fail(ErrorCode::invalid_argument, "{}classes: {}: expected {}", part.prefix, wanted,
                  labels.empty() ? "a number from 0, as the model tells no names"
                                 : fmt::format("a number from 0 to {} or one of {}", labels.size() - 1, few_of(labels)))
          .hint("{}", labels.empty() ? std::string("give names with --labels FILE") : schema::suggest(wanted, labels));
  }
  return numbers;
}

/// As the model declares an output that has no dimension for the batch; else as it is.
std::vector<stream::OutputShape> shapes_of(const std::vector<std::vector<std::int64_t>>& declared,
                                           std::span<const stream::OutputView> outputs) {
  auto shapes = stream::shapes_of(outputs);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!declared[i].empty() && declared[i].size() == shapes[i].dims.size())
      shapes[i].dims.assign(declared[i].begin() + 1, declared[i].end());
  return shapes;
}

std::int64_t values_of(const stream::OutputShape& shape) {
  return std::accumulate(shape.dims.begin(), shape.dims.end(), std::int64_t{1}, std::multiplies<>());
}

base::Fault labels_fault(const StreamPart& part, std::size_t labels, const std::string& model) {
  return fail(ErrorCode::invalid_argument, "{}labels: {} names do not fit {}", part.prefix, labels, model)
      .hint("give one name for each class, or none");
}

/// Sets the decoder and its note; the labels are dropped where the metadata's do not fit.
base::Result<void> recognize(const StreamPart& part, std::span<const stream::OutputView> outputs,
                             const stream::FrameGeometry& geometry, ChosenDecoder& chosen) {
  auto found = stream::recognize_decoder(chosen.options, chosen.shapes, outputs, geometry);
  if (found.name == "none" && !chosen.options.labels.empty()) {
    auto without = chosen.options;
    without.labels.clear();
    const auto other = stream::recognize_decoder(without, chosen.shapes, outputs, geometry);
    const bool is_vector = chosen.shapes.size() == 1 && stream::find_class_output(chosen.shapes, 0).has_value();
    if (!part.labels.empty() && other.name != "none")
      return labels_fault(part, part.labels.size(), stream::words_of(other.reading));
    if (!part.labels.empty() && is_vector)
      return labels_fault(
          part, part.labels.size(),
          fmt::format("{}: {} values", stream::shapes_text(chosen.shapes), values_of(chosen.shapes[0])));
    if (other.name != "none") {
      chosen.notes.push_back(
          stream::messages::metadata_names_unused(static_cast<std::int64_t>(chosen.options.labels.size())));
      chosen.options.labels.clear();
      found = other;
    }
  }
  chosen.name = found.name;
  chosen.notes.push_back(found.note);
  return {};
}

base::Result<void> check_named(const StreamPart& part, const stream::ResultDecoder& decoder,
                               std::span<const stream::OutputView> outputs, const stream::FrameGeometry& geometry) {
  const auto wrong = decoder.mismatch(outputs, geometry, true);
  if (!wrong) return {};
  return fail(ErrorCode::invalid_argument, "{}decoder {}: {}: as {} it has {}", part.prefix, part.decoder,
              stream::shapes_text(outputs), stream::words_of(decoder.layout()), stream::words_of(*wrong))
      .hint("--stream {}decoder=auto says what the outputs look like", part.prefix);
}

void add_notes(const stream::ResultDecoder& decoder, ChosenDecoder& chosen) {
  if (const auto left = decoder.left_out())
    chosen.notes.push_back(stream::messages::decoder_leaves_out({.decoder = chosen.name, .part = *left}));
  if (chosen.name == kYolox) chosen.notes.push_back(stream::messages::decoder_yolox());
  if (chosen.name == "detr" && chosen.shapes.size() == 1) chosen.notes.push_back(stream::messages::decoder_detr());
}

}  // namespace

StreamPart first_part(const schema::StreamSpec& spec) {
  const auto& settings = spec.settings;
  return {spec.model.workload.location,
          settings.decoder,
          settings.labels,
          settings.score_threshold,
          settings.iou_threshold,
          settings.max_boxes,
          settings.classes,
          settings.preprocess,
          settings.inference_scale,
          settings.batch_size,
          ""};
}

StreamPart crop_part(const schema::StreamSpec& spec) {
  const auto& crop = spec.settings.crop;
  return {spec.crop_model.location,
          crop.decoder,
          crop.labels,
          crop.score_threshold,
          crop.iou_threshold,
          crop.max_boxes,
          crop.classes,
          crop.preprocess,
          1,
          crop.batch_size,
          "crop."};
}

base::Result<stream::PreprocessOptions> preprocess_options(const StreamPart& part, const ImageInput& input,
                                                           const ExporterMetadata& metadata, std::string_view decoder) {
  const auto& given = part.preprocess;
  const bool is_yolox = decoder == kYolox;
  const schema::StreamPreprocess defaults;
  const bool is_normalised = given.mean != defaults.mean || given.std != defaults.std;
  stream::PreprocessOptions out;
  out.scale = part.scale;
  out.stride = std::max(static_cast<int>(given.stride), metadata.stride);
  if (given.stride != defaults.stride) out.stride = static_cast<int>(given.stride);
  out.border = static_cast<std::uint8_t>(given.border);
  // Mean and deviation are of values from 0 to 1.
  out.pixel_scale = static_cast<float>(given.scale.value_or(is_yolox && !is_normalised ? 1.0 : 1.0 / 255));
  out.layout = input.layout;
  out.resize = given.resize == "stretch"     ? stream::Resize::stretch
               : given.resize == "letterbox" ? stream::Resize::letterbox
                                             : stream::Resize::automatic;
  out.align = given.align == "top-left" || (given.align == "auto" && is_yolox) ? stream::Align::top_left
                                                                               : stream::Align::center;
  out.channels = input.channels == 1 || given.channels == "gray"                     ? stream::ChannelOrder::gray
                 : given.channels == "bgr" || (given.channels == "auto" && is_yolox) ? stream::ChannelOrder::bgr
                                                                                     : stream::ChannelOrder::rgb;
  const auto spread = [](const std::vector<double>& values, std::array<float, 3>& into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<float>(values[std::min(i, values.size() - 1)]);
  };
  if (given.mean.empty() || given.std.empty())
    return fail(ErrorCode::invalid_argument, "preprocess: mean and std need 1 or 3 values");
  spread(given.mean, out.mean);
  spread(given.std, out.deviation);
  RL_TRY(stream::check_preprocess_options(out));
  return out;
}

base::Result<InputSize> input_size(const StreamPart& part, const ImageInput& input, const ExporterMetadata& metadata,
                                   int stride) {
  InputSize out{input.width, input.height, {}};
  const auto& given = part.preprocess.size;
  if (given.size() == 2) {
    const auto width = static_cast<int>(given[0]);
    const auto height = static_cast<int>(given[1]);
    if ((input.width > 0 && input.width != width) || (input.height > 0 && input.height != height))
      return fail(ErrorCode::invalid_argument, "{}preprocess.size {}x{}: the model's input is fixed at {}x{}",
                  part.prefix, width, height, input.width > 0 ? std::to_string(input.width) : "any width",
                  input.height > 0 ? std::to_string(input.height) : "any height")
          .hint("leave it out, or export the model with an input of any size");
    if ((input.width <= 0 && width % stride != 0) || (input.height <= 0 && height % stride != 0))
      return fail(ErrorCode::invalid_argument, "{}preprocess.size {}x{}: expected multiples of the stride, {}",
                  part.prefix, width, height, stride)
          .hint("set {}preprocess.stride if the model takes others", part.prefix);
    return InputSize{width, height, {}};
  }
  if (metadata.width < 1 || (input.width > 0 && input.height > 0)) return out;
  if (part.scale != 1) {
    out.note = stream::messages::metadata_size_unused({.width = metadata.width, .height = metadata.height});
    return out;
  }
  if (input.width <= 0) out.width = metadata.width;
  if (input.height <= 0) out.height = metadata.height;
  out.note = stream::messages::metadata_size_used(
      {.width = out.width, .height = out.height, .prefix = std::string(part.prefix)});
  return out;
}

base::Result<ChosenDecoder> choose_decoder(const StreamPart& part, const ExporterMetadata& metadata,
                                           const std::vector<std::vector<std::int64_t>>& declared,
                                           std::span<const stream::OutputView> outputs,
                                           const stream::FrameGeometry& geometry) {
  ChosenDecoder chosen;
  auto& options = chosen.options;
  options.labels = part.labels.empty() ? metadata.names : part.labels;
  options.score_threshold = part.score_threshold;
  options.iou_threshold = part.iou_threshold;
  options.max_boxes = static_cast<std::size_t>(part.max_boxes);
  options.keypoints = metadata.keypoints;
  options.task = metadata.task;
  if (!part.labels.empty() && !metadata.names.empty() && part.labels.size() != metadata.names.size())
    return labels_fault(
        part, part.labels.size(),
        fmt::format("the model, whose metadata have {}: {}", metadata.names.size(), few_of(metadata.names)));
  chosen.shapes = shapes_of(declared, outputs);
  chosen.name = part.decoder;
  const bool is_named = part.decoder != "auto";
  if (!is_named) RL_TRY(recognize(part, outputs, geometry, chosen));
  RL_TRY_ASSIGN(options.classes, class_numbers(part, options.labels));
  auto decoder = stream::make_decoder(chosen.name, options, chosen.shapes, geometry.input_width, geometry.input_height);
  if (!decoder && is_named && part.labels.empty() && !options.labels.empty()) {
    options.labels.clear();
    decoder = stream::make_decoder(chosen.name, options, chosen.shapes, geometry.input_width, geometry.input_height);
  }
  if (!decoder) return tl::unexpected(std::move(decoder).error());
  if (is_named) RL_TRY(check_named(part, **decoder, outputs, geometry));
  if (chosen.name == "boxes" && part.batch_size > 1 && stream::find_boxes_outputs(chosen.shapes)->is_unbatched)
    return fail(ErrorCode::invalid_argument, "{}batch_size {}: the model gives boxes of one picture at a time",
                part.prefix, part.batch_size)
        .hint("set {}batch_size: 1", part.prefix);
  add_notes(**decoder, chosen);
  return chosen;
}

}  // namespace ridgeline::workload
