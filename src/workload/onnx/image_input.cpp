// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/image_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

std::string text_of(const OrtPort& port) {
  std::vector<std::string> dims;
  for (const auto dim : port.description.dims) dims.push_back(dim < 0 ? "?" : std::to_string(dim));
  return fmt::format("{} ({} {})", port.description.name, port.description.element_type,
                     dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x")));
}

std::string text_of(const std::vector<OrtPort>& inputs) {
  std::vector<std::string> texts;
  for (const auto& input : inputs) texts.push_back(text_of(input));
  return fmt::format("{}", fmt::join(texts, ", "));
}

bool is_picture(std::int64_t channels) { return channels == 1 || channels == 3; }

}  // namespace

std::vector<std::int64_t> ImageInput::dims(std::int64_t frames, int input_height, int input_width) const {
  return layout == stream::TensorLayout::nchw ? std::vector<std::int64_t>{frames, channels, input_height, input_width}
                                              : std::vector<std::int64_t>{frames, input_height, input_width, channels};
}

base::Result<ImageInput> find_image_input(const std::vector<OrtPort>& inputs, const std::string& model) {
  const auto fault = [&] {
    return base::fail(ErrorCode::invalid_argument,
                      "{}: its inputs are {}; expected one of 4 dimensions with 1 or 3 channels", model,
                      text_of(inputs))
        .hint("a pipeline feeds pictures: export the model with an input of NxCxHxW or NxHxWxC");
  };
  if (inputs.size() != 1 || !inputs.front().is_tensor || inputs.front().description.dims.size() != 4) return fault();
  const auto& port = inputs.front();
  const auto& dims = port.description.dims;
  ImageInput out;
  out.name = port.description.name;
  out.type = port.type;
  out.batch = dims[0];
  if (is_picture(dims[1]) || (dims[1] < 0 && !is_picture(dims[3]))) {
    out.channels = dims[1] < 0 ? 3 : dims[1];
    out.height = static_cast<int>(dims[2]);
    out.width = static_cast<int>(dims[3]);
  } else if (is_picture(dims[3])) {
    out.layout = stream::TensorLayout::nhwc;
    out.channels = dims[3];
    out.height = static_cast<int>(dims[1]);
    out.width = static_cast<int>(dims[2]);
  } else {
    return fault();
  }
  if (out.type != ElementType::float32 && out.type != ElementType::float16 && out.type != ElementType::uint8)
    return base::fail(ErrorCode::unsupported, "{}: input {}; expected float, float16 or uint8", model, text_of(port));
  return out;
}

}  // namespace ridgeline::workload
