// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/class_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "stream/decoders/distribution.hpp"
#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

/// Values of an output that is a vector, perhaps with dimensions of 1 (C x 1 x 1); -1: any number; 0: it is none.
std::int64_t vector_size(const OutputShape& output) {
  std::int64_t size = 1;
  for (const auto dim : output.dims) {
    if (dim == 1) continue;
    if (size != 1) return 0;
    size = dim;
  }
  return size == 1 ? 0 : size;
}

base::Fault class_fault(std::span<const OutputShape> outputs, std::size_t labels) {
  const auto shapes = shapes_text(outputs);
  if (outputs.size() == 1 && vector_size(outputs[0]) != 0)
    return fail(ErrorCode::invalid_argument, "decoder classify: {}: expected {} values, as there are labels", shapes,
                labels);
  return fail(ErrorCode::invalid_argument, "decoder classify: {}: expected one value a class, for two or more", shapes);
}

}  // namespace

std::optional<std::size_t> find_class_output(std::span<const OutputShape> outputs, std::size_t labels) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto size = vector_size(outputs[i]);
    if (size == 0 || (size > 0 && labels > 0 && size != static_cast<std::int64_t>(labels))) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return labels > 0 || outputs.size() == 1 ? found : std::nullopt;
}

base::Result<std::unique_ptr<ResultDecoder>> ClassDecoder::make(const DecoderOptions& options,
                                                                std::span<const OutputShape> outputs) {
  if (!find_class_output(outputs, options.labels.size())) return class_fault(outputs, options.labels.size());
  return std::unique_ptr<ResultDecoder>(new ClassDecoder(options));
}

ClassDecoder::ClassDecoder(const DecoderOptions& options)
    : labels_(options.labels), score_threshold_(static_cast<float>(options.score_threshold.value_or(0))) {}

base::Result<void> ClassDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& /*geometry*/,
                                        std::string& json) {
  // Sizes that the model did not declare are known now.
  const auto shapes = shapes_of(outputs);
  const auto place = find_class_output(shapes, labels_.size());
  if (!place) return class_fault(shapes, labels_.size());
  const auto& output = outputs[*place];
  RL_TRY(check_values(output));
  const auto values = output.values;
  order_.resize(values.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto most = std::min(kMostClasses, order_.size());
  const auto value_of = [&](int number) { return values[static_cast<std::size_t>(number)]; };
  std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(most), order_.end(),
                    [&](int a, int b) { return value_of(a) != value_of(b) ? value_of(a) > value_of(b) : a < b; });
  if (!std::isfinite(value_of(order_.front())))
    return fail(ErrorCode::invalid_argument, "output {} of {}: its largest value is infinite; expected a number",
                output.name, shape_text(output.dims));
  const auto best = static_cast<std::size_t>(order_.front());
  const bool has_probabilities = is_distribution(values);
  const float best_score = has_probabilities ? values[best] : softmax_at(values, best);
  json += R"({"classes":[)";
  for (std::size_t i = 0; i < most; ++i) {
    const auto number = static_cast<std::size_t>(order_[i]);
    const float score = has_probabilities ? values[number] : best_score * std::exp(values[number] - values[best]);
    if (score < score_threshold_) break;
    fmt::format_to(std::back_inserter(json), R"({}{{"class":{})", i == 0 ? "" : ",", order_[i]);
    labels_.append(json, order_[i]);
    json += R"(,"score":)";
    append_score(json, static_cast<double>(score));
    json += '}';
  }
  json += "]}";
  return {};
}

}  // namespace ridgeline::stream
