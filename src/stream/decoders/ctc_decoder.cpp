// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/ctc_decoder.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"
#include "stream/decoders/distribution.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/result_text.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::array<std::string_view, 4> kBlankNames{"", "blank", "<blank>", "[blank]"};

bool has_two_dims(std::span<const OutputShape> outputs) { return outputs.size() == 1 && outputs[0].dims.size() == 2; }

bool fits(std::int64_t characters, std::size_t labels) {
  const auto count = static_cast<std::int64_t>(labels);
  return characters < 0 || (characters >= std::max<std::int64_t>(2, count) && characters <= count + 2);
}

base::Result<void> check_outputs(std::span<const OutputShape> outputs, std::size_t labels) {
  if (!has_two_dims(outputs))
    return fail(ErrorCode::invalid_argument, "decoder ctc: {}: expected one output, steps x characters",
                shapes_text(outputs));
  if (labels == 0)
    return fail(ErrorCode::invalid_argument, "decoder ctc: labels: expected the model's characters, one a line")
        .hint("give the file that the model was trained with, for example ppocr_keys_v1.txt");
  const auto characters = outputs[0].dims[1];
  if (!fits(characters, labels))
    return fail(ErrorCode::invalid_argument,
                "decoder ctc: {}: {} characters for {} labels; expected as many, or 1 or 2 more (a blank, a space)",
                shapes_text(outputs), characters, labels);
  return {};
}

}  // namespace

bool is_ctc_output(std::span<const OutputShape> outputs, std::size_t labels) {
  return has_two_dims(outputs) && labels > 0 && fits(outputs[0].dims[1], labels);
}

base::Result<std::unique_ptr<ResultDecoder>> CtcDecoder::make(const DecoderOptions& options,
                                                              std::span<const OutputShape> outputs) {
  RL_TRY(check_outputs(outputs, options.labels.size()));
  return std::unique_ptr<ResultDecoder>(new CtcDecoder(options));
}

CtcDecoder::CtcDecoder(const DecoderOptions& options)
    : labels_(options.labels), score_threshold_(options.score_threshold.value_or(0)) {
  const auto named = std::find_if(labels_.begin(), labels_.end(), [](const std::string& label) {
    return std::find(kBlankNames.begin(), kBlankNames.end(), label) != kBlankNames.end();
  });
  if (named != labels_.end()) blank_ = static_cast<std::size_t>(named - labels_.begin());
}

const std::string& CtcDecoder::character(std::size_t number, std::size_t characters) const {
  static const std::string space = " ";
  if (characters == labels_.size()) return labels_[number];
  return number - 1 < labels_.size() ? labels_[number - 1] : space;
}

base::Result<void> CtcDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& /*geometry*/,
                                      std::string& json) {
  RL_TRY(check_outputs(shapes_of(outputs), labels_.size()));
  const auto& output = outputs[0];
  RL_TRY(check_values(output));
  const auto steps = static_cast<std::size_t>(output.dims[0]);
  const auto characters = static_cast<std::size_t>(output.dims[1]);
  const std::size_t blank = characters == labels_.size() ? blank_ : 0;
  text_.clear();
  double sum = 0;
  std::size_t count = 0;
  std::size_t last = blank;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto row = output.values.subspan(step * characters, characters);
    const auto best = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (best != last && best != blank) {
      text_ += character(best, characters);
      sum += static_cast<double>(is_distribution(row) ? row[best] : softmax_at(row, best));
      ++count;
    }
    last = best;
  }
  const double score = count == 0 ? 0 : sum / static_cast<double>(count);
  if (score < score_threshold_) text_.clear();
  fmt::format_to(std::back_inserter(json), R"({{"text":{},"score":)", base::dump_json(text_));
  append_score(json, score);
  json += '}';
  return {};
}

}  // namespace ridgeline::stream
