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

constexpr std::string_view kSizes = "orig_target_sizes";

bool is_picture(std::int64_t channels) { return channels == 1 || channels == 3; }

/// nullopt where it is none.
std::optional<ImageInput> image_input(const OrtPort& port) {
  const auto& dims = port.description.dims;
  if (!port.is_tensor || dims.size() != 4) return std::nullopt;
  ImageInput out;
  out.name = port.description.name;
  out.type = port.type;
  out.batch = dims[0];
  if (is_picture(dims[1]) || (dims[1] < 0 && !is_picture(dims[3]))) {
    out.channels = dims[1] < 0 ? 3 : dims[1];
    out.height = static_cast<int>(dims[2]);
    out.width = static_cast<int>(dims[3]);
    return out;
  }
  if (!is_picture(dims[3])) return std::nullopt;
  out.layout = stream::TensorLayout::nhwc;
  out.channels = dims[3];
  out.height = static_cast<int>(dims[1]);
  out.width = static_cast<int>(dims[2]);
  return out;
}

base::Result<SizeInput> size_input(const OrtPort& port, const std::string& model) {
  const auto& dims = port.description.dims;
  const bool is_number =
      port.type == ElementType::int64 || port.type == ElementType::int32 || port.type == ElementType::float32;
  if (dims.size() != 2 || (dims[1] >= 0 && dims[1] != 2) || !is_number)
    return base::fail(ErrorCode::unsupported, "{}: input {}; expected Nx2 of int64, int32 or float", model,
                      text_of(port));
  return SizeInput{port.description.name, port.type, dims[0]};
}

}  // namespace

std::vector<std::int64_t> ImageInput::dims(std::int64_t frames, int input_height, int input_width) const {
  return layout == stream::TensorLayout::nchw ? std::vector<std::int64_t>{frames, channels, input_height, input_width}
                                              : std::vector<std::int64_t>{frames, input_height, input_width, channels};
}

stream::InputType ImageInput::value_type() const noexcept {
  return type == ElementType::uint8     ? stream::InputType::uint8
         : type == ElementType::float16 ? stream::InputType::float16
                                        : stream::InputType::float32;
}

base::Result<PictureInputs> find_picture_inputs(const std::vector<OrtPort>& inputs, const std::string& model) {
  PictureInputs out;
  bool has_image = false;
  for (const auto& port : inputs) {
    if (port.is_tensor && port.description.name == kSizes && !out.sizes) {
      RL_TRY_ASSIGN(out.sizes, size_input(port, model));
    } else if (auto image = has_image ? std::nullopt : image_input(port)) {
      out.image = std::move(*image);
      has_image = true;
    } else {
      return base::fail(
                 ErrorCode::invalid_argument,
                 "{}: its inputs are {}; expected one of 4 dimensions with 1 or 3 channels, and beside it at most {}",
                 model, text_of(inputs), kSizes)
          .hint(
              "a pipeline feeds pictures: export the model with an input of NxCxHxW or NxHxWxC, and with fixed values "
              "for others");
    }
  }
  if (!has_image)
    return base::fail(ErrorCode::invalid_argument, "{}: it has no input for pictures, only {}", model, text_of(inputs));
  const auto type = out.image.type;
  if (type != ElementType::float32 && type != ElementType::float16 && type != ElementType::uint8)
    return base::fail(ErrorCode::unsupported, "{}: input {} of type {}; expected float, float16 or uint8", model,
                      out.image.name, element_type_name(type));
  return out;
}

}  // namespace ridgeline::workload
