// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/boxes_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stream/decoders/box_checks.hpp"
#include "stream/decoders/box_table.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/words.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

/// With that many values in the last of one or two dimensions.
bool is_table(const OutputShape& output, std::int64_t columns) {
  return (output.dims.size() == 1 || output.dims.size() == 2) && output.dims.back() == columns;
}

bool is_number(const OutputShape& output) {
  return output.dims.empty() || (output.dims.size() == 1 && output.dims[0] == 1);
}

bool is_whole(float value) { return value == std::round(value); }

/// Classes and scores of a table with `rank` dimensions have one less, and as many values as it has rows.
bool is_beside(const OutputShape& output, const OutputShape& boxes) {
  if (output.dims.size() + 1 != boxes.dims.size()) return false;
  return output.dims.empty() || output.dims[0] < 0 || boxes.dims[0] < 0 || output.dims[0] == boxes.dims[0];
}

std::optional<BoxesOutputs> find_separate(std::span<const OutputShape> outputs) {
  const auto found = std::find_if(outputs.begin(), outputs.end(), [](const auto& one) { return is_table(one, 4); });
  if (found == outputs.end()) return std::nullopt;
  BoxesOutputs out;
  out.boxes = static_cast<std::size_t>(found - outputs.begin());
  out.is_unbatched = found->dims.size() == 1;
  std::vector<std::size_t> beside;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i == out.boxes) continue;
    const auto& one = outputs[i];
    if (mentions(one, "num") && is_number(one) && !out.count) {
      out.count = i;
    } else if (is_beside(one, *found)) {
      beside.push_back(i);
    } else if (is_number(one) && !out.count) {
      out.count = i;
    } else if (one.dims.size() >= found->dims.size() + 1) {
      out.left_out =
          mentions(one, "keypoint") ? messages::DecoderLeavesOutPart::keypoints : messages::DecoderLeavesOutPart::masks;
    } else if (!mentions(one, "keypoint")) {
      return std::nullopt;
    }
  }
  if (beside.size() != 2) return std::nullopt;
  const bool is_label_first = mentions(outputs[beside[0]], "label") || mentions(outputs[beside[0]], "class") ||
                              mentions(outputs[beside[1]], "score");
  out.scores = beside[is_label_first ? 1 : 0];
  out.labels = beside[is_label_first ? 0 : 1];
  return out;
}

}  // namespace

std::optional<BoxesOutputs> find_boxes_outputs(std::span<const OutputShape> outputs) {
  if (outputs.empty()) return std::nullopt;
  const auto& first = outputs[0];
  if (outputs.size() == 1 && is_table(first, 7))
    return BoxesOutputs{BoxesForm::numbered, 0, {}, {}, {}, first.dims.size() == 1, {}};
  if (outputs.size() == 2 && is_table(first, 6) && is_number(outputs[1]))
    return BoxesOutputs{BoxesForm::labelled, 0, {}, {}, 1, first.dims.size() == 1, {}};
  if ((outputs.size() == 2 || outputs.size() == 3) && is_table(first, 5) && is_beside(outputs[1], first) &&
      (outputs.size() == 2 || outputs[2].dims.size() > first.dims.size()))
    return BoxesOutputs{BoxesForm::scored,
                        0,
                        {},
                        1,
                        {},
                        first.dims.size() == 1,
                        outputs.size() == 3 ? std::optional(messages::DecoderLeavesOutPart::masks) : std::nullopt};
  if (outputs.size() < 3) return std::nullopt;
  return find_separate(outputs);
}

base::Result<std::unique_ptr<ResultDecoder>> BoxesDecoder::make(const DecoderOptions& options,
                                                                std::span<const OutputShape> outputs) {
  RL_TRY(check_box_options(options));
  auto places = find_boxes_outputs(outputs);
  if (!places)
    return fail(
        ErrorCode::invalid_argument,
        "decoder boxes: {}: expected boxes (Nx4), scores and classes; Nx5 and classes; Nx7; or Nx6 and a number",
        shapes_text(outputs));
  return std::unique_ptr<ResultDecoder>(new BoxesDecoder(options, std::move(*places)));
}

BoxesDecoder::BoxesDecoder(const DecoderOptions& options, BoxesOutputs places)
    : BoxDecoder({.decoder = "boxes", .score_threshold = static_cast<float>(options.score_threshold.value_or(0.5))},
                 options),
      places_(std::move(places)) {}

schema::Message BoxesDecoder::layout() const {
  using enum messages::LayoutBoxesForm;
  switch (places_.form) {
    case BoxesForm::scored: return messages::layout_boxes(scored);
    case BoxesForm::numbered: return messages::layout_boxes(numbered);
    case BoxesForm::labelled: return messages::layout_boxes(labelled);
    case BoxesForm::separate: break;
  }
  return messages::layout_boxes(separate);
}

std::size_t BoxesDecoder::width() const noexcept {
  switch (places_.form) {
    case BoxesForm::scored: return 5;
    case BoxesForm::numbered: return 7;
    case BoxesForm::labelled: return 6;
    case BoxesForm::separate: break;
  }
  return 4;
}

base::Result<std::vector<BoxesDecoder::Row>> BoxesDecoder::rows_of(std::span<const OutputView> outputs) const {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder boxes: {}: expected {}", shapes_text(outputs),
                words_of(layout()));
  };
  for (const auto place : {std::optional(places_.boxes), places_.scores, places_.labels, places_.count}) {
    if (!place) continue;
    if (*place >= outputs.size()) return refuse();
    RL_TRY(check_values(outputs[*place]));
  }
  const auto table = outputs[places_.boxes].values;
  const auto step = width();
  if (table.size() % step != 0) return refuse();
  auto count = table.size() / step;
  const auto beside = [&](std::optional<std::size_t> place) {
    return place ? outputs[*place].values : std::span<const float>();
  };
  const auto scores = beside(places_.scores);
  const auto labels = beside(places_.labels);
  if ((places_.scores && scores.size() != count) || (places_.labels && labels.size() != count)) return refuse();
  if (const auto number = beside(places_.count); !number.empty()) {
    if (!is_whole(number[0]) || number[0] < 0 || number[0] > static_cast<float>(count))
      return fail(ErrorCode::invalid_argument, "decoder boxes: a number of boxes of {:.4g}: expected 0 to {}",
                  number[0], count);
    count = static_cast<std::size_t>(number[0]);
  }
  // Of the two last columns that of whole numbers is the class.
  bool is_class_last = true;
  for (std::size_t i = 0; i < count && places_.form == BoxesForm::numbered; ++i)
    is_class_last = is_class_last && is_whole(table[i * step + 6]);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = table.data() + i * step;
    switch (places_.form) {
      case BoxesForm::separate: rows.push_back({row, scores[i], labels[i], 0}); break;
      case BoxesForm::scored: rows.push_back({row, row[4], labels[i], 0}); break;
      case BoxesForm::labelled: rows.push_back({row + 2, row[1], row[0], 0}); break;
      case BoxesForm::numbered:
        rows.push_back({row + 1, row[is_class_last ? 5 : 6], row[is_class_last ? 6 : 5], row[0]});
        break;
    }
  }
  return rows;
}

base::Result<void> BoxesDecoder::find_boxes(std::span<const OutputView> outputs, const FrameGeometry& /*geometry*/) {
  RL_TRY_ASSIGN(const auto rows, rows_of(outputs));
  for (const auto& row : rows) {
    if (!(row.score >= rules().score_threshold)) continue;
    RL_TRY_ASSIGN(const int label, class_number(row.label, "boxes"));
    boxes_.push_back({row.box[0], row.box[1], row.box[2], row.box[3], row.score, label});
  }
  return {};
}

std::optional<schema::Message> BoxesDecoder::mismatch(std::span<const OutputView> outputs,
                                                      const FrameGeometry& geometry, bool named) const {
  const auto rows = rows_of(outputs);
  if (!rows) return messages::wrong_outputs(rows.error().message);
  const bool is_flat = places_.form == BoxesForm::numbered || places_.form == BoxesForm::labelled;
  if (is_flat && !named && rows->empty()) return messages::no_box_in_first_frame();
  BoxCheck check(geometry);
  ValueRange scores;
  for (const auto& row : *rows) {
    scores.add(row.score);
    if (row.picture != 0) return messages::wrong_picture(static_cast<double>(row.picture));
    if (!is_whole(row.label) || row.label < -1) return messages::wrong_class(static_cast<double>(row.label));
    if (row.score != 0) check.add({row.box[0], row.box[1], row.box[2], row.box[3]}, row.score >= kScoredBox);
  }
  if (auto wrong = score_mismatch(scores)) return wrong;
  return check.mismatch();
}

}  // namespace ridgeline::stream
