// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/dim_guess.hpp"

#include "workload/onnx/dim_role.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::int64_t kDenseImage = 640;       // detection, segmentation: YOLO and PP-OCR detection default to it
constexpr std::int64_t kClassifierImage = 224;  // ImageNet classifiers
constexpr std::int64_t kTextLineWidth = 320;    // PP-OCR and CRNN recognition: 32 or 48 high, 320 wide
constexpr std::int64_t kTextLineMaxHeight = 64;
constexpr std::int64_t kSequence = 128;   // the sequence length BERT benchmarks use
constexpr std::int64_t kSamples = 16000;  // one second of 16 kHz speech
constexpr std::int64_t kClip = 16;        // frames of a video clip

/// Axes of an image within an input, when its layout is recognised.
struct ImageAxes {
  std::size_t height;
  std::size_t width;
};

bool is_channel_count(std::int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

bool may_be_spatial(const schema::TensorDescription& input, std::size_t axis) {
  if (input.dims[axis] >= 0) return true;
  const auto role = role_of_dim_name(input.dim_names[axis]);
  return role == DimRole::unknown || role == DimRole::height || role == DimRole::width;
}

std::optional<ImageAxes> image_axes(const schema::TensorDescription& input) {
  const auto& dims = input.dims;
  const auto rank = dims.size();
  const auto spatial = [&](ImageAxes axes) -> std::optional<ImageAxes> {
    if (may_be_spatial(input, axes.height) && may_be_spatial(input, axes.width)) return axes;
    return std::nullopt;
  };
  if (rank == 4 && is_channel_count(dims[3]) && !is_channel_count(dims[1])) return spatial({1, 2});
  if (rank == 4 && (is_channel_count(dims[1]) || dims[1] < 0)) return spatial({2, 3});
  if (rank == 3 && is_channel_count(dims[0])) return spatial({1, 2});
  if (rank == 3 && dims[2] == 3) return spatial({0, 1});
  if (rank == 5 && is_channel_count(dims[1])) return spatial({3, 4});
  return std::nullopt;
}

DimHint guess_spatial(const schema::TensorDescription& input, bool is_height, const std::optional<ImageAxes>& axes,
                      const ShapeHints& hints) {
  if (hints.image)
    return {is_height ? hints.image->height : hints.image->width,
            messages::dim_image({.height = is_height, .source = hints.image->source})};
  if (axes) {
    const auto height = input.dims[axes->height];
    const auto width = input.dims[axes->width];
    if (!is_height && height > 0 && height <= kTextLineMaxHeight)
      return {kTextLineWidth, messages::dim_text_line(height)};
    if (const auto other = is_height ? width : height; other > 0) return {other, messages::dim_square()};
  }
  if (hints.other_side) return {*hints.other_side, messages::dim_side_fits(is_height)};
  if (hints.classifies) return {kClassifierImage, messages::dim_usual_side({.height = is_height, .classifiers = true})};
  return {kDenseImage, messages::dim_usual_side({.height = is_height})};
}

DimHint guess_length(const ShapeHints& hints, std::int64_t usual, const schema::Message& reason) {
  return hints.other_length.value_or(DimHint{usual, reason});
}

/// [layers, batch, hidden size] of an LSTM, GRU or RNN, whose middle axis is often nameless.
bool is_batch_of_state(const schema::TensorDescription& input, std::size_t axis, const ShapeHints& hints) {
  return axis == 1 && input.dims.size() == 3 && input.dims[0] > 0 && hints.hidden_sizes.count(input.dims[2]) != 0;
}

}  // namespace

DimHint guess_dim(const schema::TensorDescription& input, std::size_t axis, const ShapeHints& hints, bool decodes) {
  const auto axes = image_axes(input);
  if (dynamic_batch_axis(input) == axis) return {1, messages::dim_batch()};
  switch (role_of_dim_name(input.dim_names[axis])) {
    case DimRole::batch: return {1, messages::dim_batch()};
    case DimRole::channels: return {3, messages::dim_channels()};
    case DimRole::height: return guess_spatial(input, true, axes, hints);
    case DimRole::width: return guess_spatial(input, false, axes, hints);
    case DimRole::past: return {kSequence, messages::dim_past()};
    case DimRole::samples: return guess_length(hints, kSamples, messages::dim_second_of_audio());
    case DimRole::frames:
      if (input.dims.size() == 5) return {kClip, messages::dim_frames()};
      return guess_length(hints, kSequence, messages::dim_frames());
    case DimRole::sequence:
      if (decodes) return {1, messages::dim_new_token()};
      return guess_length(hints, kSequence, messages::dim_sequence());
    case DimRole::unknown: break;
  }
  if (is_batch_of_state(input, axis, hints)) return {1, messages::dim_state_batch()};
  if (axes && axis == axes->height) return guess_spatial(input, true, axes, hints);
  if (axes && axis == axes->width) return guess_spatial(input, false, axes, hints);
  if (axes && axis == 1 && input.dims.size() == 4) return {3, messages::dim_channels()};
  if (input.dims.size() == 5 && axes) return {kClip, messages::dim_frames()};
  return guess_length(hints, kSequence, messages::dim_length());
}

}  // namespace ridgeline::workload
