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

constexpr std::size_t kCocoWithNoObject = 92;  // classes of DETR, which numbers COCO's up to 90

bool has_word(std::string_view name, std::string_view word) { return name.find(word) != std::string_view::npos; }

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
      if (is_boxes(other) && (has_word(other.name, "box") || !has_word(outputs[boxes].name, "box"))) continue;
      return DetrOutputs{boxes, 1 - boxes, std::nullopt};
    }
    return std::nullopt;
  }
  if (outputs.size() != 3) return std::nullopt;
  const auto found = std::find_if(outputs.begin(), outputs.end(), is_boxes);
  if (found == outputs.end()) return std::nullopt;
  const auto boxes = static_cast<std::size_t>(found - outputs.begin());
  const std::size_t first = boxes == 0 ? 1 : 0;
  const std::size_t second = 3 - boxes - first;
  for (const std::size_t other : {first, second})
    if (outputs[other].dims.size() != 1 || !match(outputs[other].dims[0], outputs[boxes].dims[0])) return std::nullopt;
  const bool is_score_first = has_word(outputs[first].name, "score") || has_word(outputs[second].name, "label");
  return is_score_first ? DetrOutputs{boxes, first, second} : DetrOutputs{boxes, second, first};
}

base::Result<std::unique_ptr<ResultDecoder>> DetrDecoder::make(const DecoderOptions& options,
                                                               std::span<const OutputShape> outputs) {
  RL_TRY(check_box_options(options));
  const auto places = find_detr_outputs(outputs);
  if (!places)
    return fail(ErrorCode::invalid_argument,
                "decoder detr: {}: expected logits of QxC and boxes of Qx4, or labels, boxes and scores",
                shapes_text(outputs));
  if (!places->labels && !options.labels.empty()) {
    const auto classes = outputs[places->scores].dims[1];
    const auto names = static_cast<std::int64_t>(options.labels.size());
    if (classes >= 0 && classes != names && classes != names + 1)
      return fail(ErrorCode::invalid_argument, "decoder detr: {}: expected {} classes as there are labels, or one more",
                  shapes_text(outputs), names);
  }
  return std::unique_ptr<ResultDecoder>(new DetrDecoder(options, *places));
}

DetrDecoder::DetrDecoder(const DecoderOptions& options, const DetrOutputs& places)
    : BoxDecoder(options.labels),
      places_(places),
      score_threshold_(static_cast<float>(options.score_threshold.value_or(0.5))),
      max_boxes_(options.max_boxes),
      scores_(options.detr_scores) {}

DetrScores DetrDecoder::scores_for(std::size_t classes) const noexcept {
  if (scores_) return *scores_;
  const bool has_no_object = labels().size() > 0 ? classes == labels().size() + 1 : classes == kCocoWithNoObject;
  return has_no_object ? DetrScores::softmax : DetrScores::sigmoid;
}

base::Result<void> DetrDecoder::take_scores(std::span<const OutputView> outputs) {
  const auto& boxes = outputs[places_.boxes];
  const auto scores = outputs[places_.scores].values;
  const auto labels = outputs[*places_.labels].values;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] >= score_threshold_)) continue;
    RL_TRY_ASSIGN(const int label, class_number(labels[i], "detr"));
    const float* box = boxes.values.data() + 4 * i;
    boxes_.push_back({box[0], box[1], box[2], box[3], scores[i], label});
  }
  return {};
}

base::Result<void> DetrDecoder::take_logits(const OutputView& logits, const OutputView& boxes,
                                            const FrameGeometry& geometry) {
  const auto classes = static_cast<std::size_t>(logits.dims[1]);
  const bool is_softmax = scores_for(classes) == DetrScores::softmax;
  if (is_softmax && classes < 2)
    return fail(ErrorCode::invalid_argument, "decoder detr: {} of {}: expected a class beside \"no object\"",
                logits.name, shape_text(logits.dims));
  const std::size_t named = is_softmax ? classes - 1 : classes;
  // sigmoid(x) >= t where x >= log(t / (1 - t)): most logits are refused without an exponential.
  const float least_logit = std::log(score_threshold_ / (1 - score_threshold_));
  const auto queries = static_cast<std::size_t>(logits.dims[0]);
  const auto width = static_cast<float>(geometry.input_width);
  const auto height = static_cast<float>(geometry.input_height);
  const auto add = [&](const float* box, float score, std::size_t label) {
    boxes_.push_back({(box[0] - box[2] / 2) * width, (box[1] - box[3] / 2) * height, (box[0] + box[2] / 2) * width,
                      (box[1] + box[3] / 2) * height, score, static_cast<int>(label)});
  };
  for (std::size_t q = 0; q < queries; ++q) {
    const float* row = logits.values.data() + q * classes;
    const float* box = boxes.values.data() + 4 * q;
    if (is_softmax) {
      const auto best = static_cast<std::size_t>(std::max_element(row, row + named) - row);
      const float score = softmax_at({row, classes}, best);
      if (score >= score_threshold_) add(box, score, best);
    } else {
      for (std::size_t c = 0; c < named; ++c)
        if (row[c] >= least_logit) add(box, 1 / (1 + std::exp(-row[c])), c);
    }
  }
  return {};
}

base::Result<void> DetrDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder detr: {}: expected {}", shapes_text(outputs),
                places_.labels ? "labels, boxes and scores" : "logits of QxC and boxes of Qx4");
  };
  if (outputs.size() != (places_.labels ? 3U : 2U)) return refuse();
  for (const auto& output : outputs) RL_TRY(check_values(output));
  const auto& boxes = outputs[places_.boxes];
  const auto& scores = outputs[places_.scores];
  if (boxes.dims.size() != 2 || boxes.dims[1] != 4 || scores.dims.empty() || scores.dims[0] != boxes.dims[0])
    return refuse();
  if (places_.labels) {
    const auto queries = static_cast<std::size_t>(boxes.dims[0]);
    if (scores.values.size() != queries || outputs[*places_.labels].values.size() != queries) return refuse();
    RL_TRY(take_scores(outputs));
  } else {
    if (scores.dims.size() != 2 || scores.dims[1] < 1) return refuse();
    RL_TRY(take_logits(scores, boxes, geometry));
  }
  keep_best(boxes_, max_boxes_);
  return move_to_frame(boxes_, geometry, "detr");
}

}  // namespace ridgeline::stream
