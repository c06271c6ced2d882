// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/detr_decoder.hpp"

#include <algorithm>
#include <cmath>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/distribution.hpp"
#include "stream/decoders/non_max_suppression.hpp"
#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kMostValues = 2004;     // of a query: more are boxes in columns
constexpr std::int64_t kMostQueries = 1000;    // 300 are common, 900 the most known
constexpr std::size_t kCocoWithNoObject = 92;  // classes of DETR, which numbers COCO's up to 90

bool is_boxes(const OutputShape& output) {
  return output.dims.size() == 2 && (output.dims[1] == 4 || output.dims[1] < 0);
}

/// The same number of queries, or not known.
bool match(std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; }

}  // namespace

std::optional<DetrOutputs> find_detr_outputs(std::span<const OutputShape> outputs) {
  if (outputs.size() == 2) {
    for (const std::size_t boxes : {1U, 0U}) {
      const auto& other = outputs[1 - boxes];
      if (!is_boxes(outputs[boxes]) || other.dims.size() != 2 || !match(outputs[boxes].dims[0], other.dims[0]))
        continue;
      // With four classes, or sizes that are not known, the names tell.
      if (is_boxes(other) && (mentions(other, "box") || !mentions(outputs[boxes], "box"))) continue;
      return DetrOutputs{boxes, 1 - boxes, std::nullopt};
    }
    return std::nullopt;
  }
  if (outputs.size() == 1) {
    const auto& dims = outputs[0].dims;
    const bool fits = dims.size() == 2 && dims[0] != 0 && dims[0] <= kMostQueries &&
                      (dims[1] < 0 || (dims[1] > 4 && dims[1] <= kMostValues));
    return fits ? std::optional(DetrOutputs{0, 0, std::nullopt}) : std::nullopt;
  }
  if (outputs.size() != 3) return std::nullopt;
  const auto found = std::find_if(outputs.begin(), outputs.end(), is_boxes);
  if (found == outputs.end()) return std::nullopt;
  const auto boxes = static_cast<std::size_t>(found - outputs.begin());
  const std::size_t first = boxes == 0 ? 1 : 0;
  const std::size_t second = 3 - boxes - first;
  for (const std::size_t other : {first, second})
    if (outputs[other].dims.size() != 1 || !match(outputs[other].dims[0], outputs[boxes].dims[0])) return std::nullopt;
  const bool is_score_first = mentions(outputs[first], "score") || mentions(outputs[second], "label");
  return is_score_first ? DetrOutputs{boxes, first, second} : DetrOutputs{boxes, second, first};
}

base::Result<std::unique_ptr<ResultDecoder>> DetrDecoder::make(const DecoderOptions& options,
                                                               std::span<const OutputShape> outputs) {
  RL_TRY(check_box_options(options));
  const auto places = find_detr_outputs(outputs);
  if (!places)
    return fail(ErrorCode::invalid_argument,
                "decoder detr: {}: expected logits of QxC and boxes of Qx4, both in one, or labels, boxes and scores",
                shapes_text(outputs));
  if (!places->labels && !options.labels.empty()) {
    const auto columns = outputs[places->scores].dims[1];
    const auto classes = columns < 0 || !places->is_joined() ? columns : columns - 4;
    const auto names = static_cast<std::int64_t>(options.labels.size());
    if (classes >= 0 && classes != names && (places->is_joined() || classes != names + 1))
      return fail(ErrorCode::invalid_argument, "decoder detr: {}: expected {} classes as there are labels{}",
                  shapes_text(outputs), names, places->is_joined() ? "" : ", or one more");
  }
  return std::unique_ptr<ResultDecoder>(new DetrDecoder(options, *places));
}

DetrDecoder::DetrDecoder(const DecoderOptions& options, const DetrOutputs& places)
    : BoxDecoder({.decoder = "detr", .score_threshold = static_cast<float>(options.score_threshold.value_or(0.5))},
                 options),
      places_(places),
      scores_(options.detr_scores) {}

schema::Message DetrDecoder::layout() const {
  using enum messages::LayoutDetrForm;
  return messages::layout_detr(places_.labels ? labelled : places_.is_joined() ? joined : logits);
}

DetrScores DetrDecoder::scores_for(std::size_t classes) const noexcept {
  if (scores_) return *scores_;
  return named_classes(classes) < classes ? DetrScores::softmax : DetrScores::sigmoid;
}

std::size_t DetrDecoder::named_classes(std::size_t classes) const noexcept {
  if (scores_) return *scores_ == DetrScores::softmax ? classes - 1 : classes;
  const bool has_no_object = labels().size() > 0 ? classes == labels().size() + 1 : classes == kCocoWithNoObject;
  return has_no_object ? classes - 1 : classes;
}

base::Result<void> DetrDecoder::take_scores(std::span<const OutputView> outputs) {
  const auto& boxes = outputs[places_.boxes];
  const auto scores = outputs[places_.scores].values;
  const auto labels = outputs[*places_.labels].values;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] >= rules().score_threshold)) continue;
    RL_TRY_ASSIGN(const int label, class_number(labels[i], "detr"));
    const float* box = boxes.values.data() + 4 * i;
    boxes_.push_back({box[0], box[1], box[2], box[3], scores[i], label});
  }
  return {};
}

base::Result<void> DetrDecoder::take_queries(const Queries& queries, const FrameGeometry& geometry) {
  const auto classes = queries.classes;
  const bool is_softmax = scores_for(classes) == DetrScores::softmax;
  if (is_softmax && classes < 2)
    return fail(ErrorCode::invalid_argument, "decoder detr: {} classes: expected one beside \"no object\"", classes);
  const std::size_t named = named_classes(classes);
  // Logits are never all from 0 to 1: background is far below.
  const auto range = queries.scores.range(queries.first_class, classes);
  const bool are_scores = range.low >= 0 && range.high <= 1;
  const float threshold = rules().score_threshold;
  // sigmoid(x) >= t where x >= log(t / (1 - t)): most logits are refused without an exponential.
  const float least = are_scores ? threshold : std::log(threshold / (1 - threshold));
  const auto width = static_cast<float>(geometry.input_width);
  const auto height = static_cast<float>(geometry.input_height);
  for (std::size_t q = 0; q < queries.scores.count; ++q) {
    const float* row = queries.scores.values.data() + q * queries.scores.channels + queries.first_class;
    const float* box = queries.boxes.values.data() + q * queries.boxes.channels;
    const auto add = [&](float score, std::size_t label) {
      boxes_.push_back({(box[0] - box[2] / 2) * width, (box[1] - box[3] / 2) * height, (box[0] + box[2] / 2) * width,
                        (box[1] + box[3] / 2) * height, score, static_cast<int>(label)});
    };
    if (is_softmax) {
      const auto best = static_cast<std::size_t>(std::max_element(row, row + named) - row);
      const float score = are_scores ? row[best] : softmax_at({row, classes}, best);
      if (score >= threshold) add(score, best);
    } else {
      for (std::size_t c = 0; c < named; ++c)
        if (row[c] >= least) add(are_scores ? row[c] : 1 / (1 + std::exp(-row[c])), c);
    }
  }
  return {};
}

base::Result<void> DetrDecoder::check(std::span<const OutputView> outputs) const {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder detr: {}: expected {}", shapes_text(outputs),
                places_.labels        ? "labels, boxes and scores"
                : places_.is_joined() ? "boxes and scores of Qx(4+C)"
                                      : "logits of QxC and boxes of Qx4");
  };
  if (outputs.size() != (places_.labels ? 3U : places_.is_joined() ? 1U : 2U)) return refuse();
  for (const auto& output : outputs) RL_TRY(check_values(output));
  const auto& boxes = outputs[places_.boxes];
  const auto& scores = outputs[places_.scores];
  if (boxes.dims.size() != 2 || scores.dims.empty() || scores.dims[0] != boxes.dims[0]) return refuse();
  if (places_.is_joined()) {
    if (boxes.dims[1] < 5) return refuse();
    return {};
  }
  if (boxes.dims[1] != 4) return refuse();
  const auto queries = static_cast<std::size_t>(boxes.dims[0]);
  if (places_.labels && (scores.values.size() != queries || outputs[*places_.labels].values.size() != queries))
    return refuse();
  if (!places_.labels && (scores.dims.size() != 2 || scores.dims[1] < 1)) return refuse();
  return {};
}

DetrDecoder::Queries DetrDecoder::queries_of(std::span<const OutputView> outputs) const {
  const auto table = [](const OutputView& output) {
    return BoxTable{output.values, static_cast<std::size_t>(output.dims[0]), static_cast<std::size_t>(output.dims[1]),
                    false};
  };
  Queries out{table(outputs[places_.boxes]), table(outputs[places_.scores])};
  out.first_class = places_.is_joined() ? 4 : 0;
  out.classes = out.scores.channels - out.first_class;
  return out;
}

base::Result<void> DetrDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  RL_TRY(check(outputs));
  if (places_.labels) return take_scores(outputs);
  return take_queries(queries_of(outputs), geometry);
}

std::optional<schema::Message> DetrDecoder::mismatch(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                                     bool named) const {
  if (const auto checked = check(outputs); !checked) return messages::wrong_outputs(checked.error().message);
  if (places_.labels) {
    const auto scores = outputs[places_.scores].values;
    const auto labels = outputs[*places_.labels].values;
    BoxCheck boxes(geometry);
    ValueRange range;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      range.add(scores[i]);
      if (labels[i] != std::round(labels[i])) return messages::wrong_label(static_cast<double>(labels[i]));
      const float* box = outputs[places_.boxes].values.data() + 4 * i;
      if (scores[i] != 0) boxes.add({box[0], box[1], box[2], box[3]}, scores[i] >= kScoredBox);
    }
    if (auto wrong = score_mismatch(range)) return wrong;
    return boxes.mismatch();
  }
  const auto queries = queries_of(outputs);
  constexpr float kBeyond = 0.5F;  // a box's centre and size may leave the picture a little
  const auto range = queries.boxes.range(0, 4);
  if (!range.empty() && (range.low < -kBeyond || range.high > 1 + kBeyond))
    return messages::wrong_detr_boxes({.low = static_cast<double>(range.low), .high = static_cast<double>(range.high)});
  const auto sides = queries.boxes.range(2, 2);
  if (!sides.empty() && sides.low < 0) return messages::wrong_detr_side(static_cast<double>(sides.low));
  if (!named && sides.high <= 0) return messages::no_box_size();
  if (!places_.is_joined()) return std::nullopt;
  return score_mismatch(queries.scores, queries.first_class, queries.classes, named);
}

}  // namespace ridgeline::stream
