// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/output_checks.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

template <typename Outputs>
std::string joined(const Outputs& outputs) {
  std::string text;
  for (const auto& output : outputs)
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", output.name, shape_text(output.dims));
  return text.empty() ? "no outputs" : text;
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text;
  for (const auto dim : dims) {
    if (!text.empty()) text += 'x';
    text += dim < 0 ? "?" : std::to_string(dim);
  }
  return text.empty() ? "scalar" : text;
}

std::string shapes_text(std::span<const OutputShape> outputs) { return joined(outputs); }
std::string shapes_text(std::span<const OutputView> outputs) { return joined(outputs); }

std::vector<schema::Message> shape_messages(std::span<const OutputShape> outputs) {
  std::vector<schema::Message> out;
  if (outputs.empty()) out.push_back(messages::no_outputs());
  for (const auto& output : outputs)
    out.push_back(messages::output_shape({.name = output.name, .shape = shape_text(output.dims)}));
  return out;
}

std::vector<OutputShape> shapes_of(std::span<const OutputView> outputs) {
  std::vector<OutputShape> shapes;
  for (const auto& output : outputs)
    shapes.push_back({std::string(output.name), {output.dims.begin(), output.dims.end()}});
  return shapes;
}

std::size_t find_nan(std::span<const float> values) noexcept {
  constexpr std::size_t kBlock = 4096;
  constexpr std::uint32_t kInfinity = 0x7f800000;
  const auto is_nan = [](float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7fffffffU) > kInfinity; };
  for (std::size_t start = 0; start < values.size(); start += kBlock) {
    const auto block = values.subspan(start, std::min(kBlock, values.size() - start));
    std::int32_t found = 0;  // integers: a sum of floats may not be vectorized
    for (const float value : block) found |= is_nan(value);
    if (found != 0)
      return start + static_cast<std::size_t>(std::find_if(block.begin(), block.end(), is_nan) - block.begin());
  }
  return values.size();
}

base::Result<void> check_size(const OutputView& output) {
  std::size_t count = 1;
  for (const auto dim : output.dims) {
    if (dim < 0 || (dim > 0 && count > output.values.size() / static_cast<std::size_t>(dim)))
      return fail(ErrorCode::invalid_argument, "output {} of {} has {} values", output.name, shape_text(output.dims),
                  output.values.size());
    count *= static_cast<std::size_t>(dim);
  }
  if (count != output.values.size())
    return fail(ErrorCode::invalid_argument, "output {} of {} has {} values", output.name, shape_text(output.dims),
                output.values.size());
  return {};
}

base::Fault nan_fault(const OutputView& output, std::size_t place) {
  return fail(ErrorCode::invalid_argument, "output {} of {} has a NaN at value {}", output.name,
              shape_text(output.dims), place)
      .hint("check preprocess: and, for a model in half precision, its range");
}

base::Result<void> check_values(const OutputView& output) {
  RL_TRY(check_size(output));
  const auto place = find_nan(output.values);
  if (place < output.values.size()) return nan_fault(output, place);
  return {};
}

base::Result<void> check_keypoint_labels(std::string_view decoder, const OutputShape& output, std::size_t labels) {
  if (labels == 0 || output.dims.empty() || output.dims[0] < 0 || output.dims[0] == static_cast<std::int64_t>(labels))
    return {};
  return fail(ErrorCode::invalid_argument, "decoder {}: {} of {}: expected {} keypoints as there are labels", decoder,
              output.name, shape_text(output.dims), labels);
}

}  // namespace ridgeline::stream
