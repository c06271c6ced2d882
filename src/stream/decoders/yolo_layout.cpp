// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/yolo_layout.hpp"

#include <algorithm>

#include "stream/decoders/output_checks.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kMostFinalBoxes = 1000;  // models that suppress on their own give 300 or so
constexpr std::int64_t kMostChannels = 20'000;

/// Boxes of a model with one a cell at strides 8, 16 and 32; 0: the input is not known.
std::int64_t cells_of(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) return 0;
  std::int64_t cells = 0;
  for (const std::int64_t stride : {8, 16, 32}) cells += (width / stride) * (height / stride);
  return cells;
}

}  // namespace

base::Result<YoloLayout> find_yolo_layout(std::span<const std::string> labels, std::span<const OutputShape> outputs,
                                          int input_width, int input_height) {
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder yolo: {}: expected Nx(5+classes), (4+classes)xN or Nx6 with {}",
                shapes_text(outputs),
                labels.empty() ? "any number of classes" : std::to_string(labels.size()) + " labels");
  };
  if (outputs.empty() || outputs[0].dims.size() != 2) return refuse();
  const auto rows = outputs[0].dims[0];
  const auto columns = outputs[0].dims[1];
  const auto names = static_cast<std::int64_t>(labels.size());
  const bool has_masks = outputs.size() > 1 && outputs[1].dims.size() == 3;
  const std::int64_t masks = has_masks ? std::clamp<std::int64_t>(outputs[1].dims[0], 0, kMostChannels) : 0;
  const auto cells = cells_of(input_width, input_height);
  const bool is_full = cells > 0 && (rows == cells || rows == 3 * cells);
  if (columns == 6 + masks && !is_full && rows <= kMostFinalBoxes && !(names == 1 && rows < 0))
    return YoloLayout{YoloKind::final, columns, 0};
  YoloLayout layout;
  if (rows > 0 && (columns < 0 || rows < columns)) {
    layout = {YoloKind::columns, rows, rows - 4 - masks};
  } else if (columns > 0) {
    const bool has_objectness = names == 0 || columns != 4 + names + masks;
    layout = {has_objectness ? YoloKind::rows_with_objectness : YoloKind::rows, columns,
              columns - (has_objectness ? 5 : 4) - masks};
  }
  if (layout.classes < 1 || layout.channels > kMostChannels || (names > 0 && layout.classes != names)) return refuse();
  return layout;
}

std::string to_text(const YoloLayout& layout) {
  switch (layout.kind) {
    case YoloKind::rows_with_objectness: return fmt::format("boxes in rows of 5 + {} classes", layout.classes);
    case YoloKind::rows: return fmt::format("boxes in rows of 4 + {} classes", layout.classes);
    case YoloKind::columns: return fmt::format("boxes in columns of 4 + {} classes", layout.classes);
    case YoloKind::final: return "boxes in rows of corners, score and class";
  }
  return "?";
}

}  // namespace ridgeline::stream
