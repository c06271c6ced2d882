// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/yolo_layout.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "stream/decoders/output_checks.hpp"
#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::int64_t kMostFinalBoxes = 1000;  // models that suppress on their own give 300 or so
constexpr std::int64_t kMostChannels = 20'000;
constexpr std::int64_t kMostKeypoints = 200;  // of a whole body with hands and face 133

std::string_view name_of(YoloTask task) {
  return task == YoloTask::pose ? "pose" : task == YoloTask::obb ? "obb" : "yolo";
}

std::string_view shapes_of(YoloTask task) {
  switch (task) {
    case YoloTask::pose: return "(4+classes+keypoints)xN or Nx(6+keypoints)";
    case YoloTask::obb: return "(4+classes+1)xN or Nx7";
    case YoloTask::detect: break;
  }
  return "Nx(5+classes), (4+classes)xN or Nx6";
}

/// Values behind the classes; nullopt: `channels` cannot have any keypoints.
std::optional<std::int64_t> beside_classes(YoloTask task, const DecoderOptions& options, std::int64_t masks,
                                           std::int64_t channels, std::int64_t before) {
  if (task == YoloTask::obb) return 1;
  if (task == YoloTask::detect) return masks;
  if (options.keypoints) return static_cast<std::int64_t>(options.keypoints->count * options.keypoints->values);
  // Poses are mostly of one class, a person.
  const auto classes = options.labels.empty() ? 1 : static_cast<std::int64_t>(options.labels.size());
  const auto left = channels - before - (before == 6 ? 0 : classes);
  if (left < 3 || left % 3 != 0 || left > 3 * kMostKeypoints) return std::nullopt;
  return left;
}

KeypointShape keypoints_of(const DecoderOptions& options, std::int64_t values) {
  return options.keypoints ? *options.keypoints : KeypointShape{static_cast<std::size_t>(values) / 3, 3};
}

}  // namespace

std::int64_t cells_of(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) return 0;
  std::int64_t cells = 0;
  for (const std::int64_t stride : {8, 16, 32}) cells += (width / stride) * (height / stride);
  return cells;
}

base::Result<YoloLayout> find_yolo_layout(YoloTask task, const DecoderOptions& options,
                                          std::span<const OutputShape> outputs, int input_width, int input_height) {
  const auto names = static_cast<std::int64_t>(options.labels.size());
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder {}: {}: expected {} with {}", name_of(task), shapes_text(outputs),
                shapes_of(task), names == 0 ? "any number of classes" : fmt::format("{} labels", names));
  };
  if (outputs.empty() || outputs[0].dims.size() != 2) return refuse();
  const auto rows = outputs[0].dims[0];
  const auto columns = outputs[0].dims[1];
  const bool has_masks = task == YoloTask::detect && outputs.size() > 1 && outputs[1].dims.size() == 3;
  const std::int64_t masks = has_masks ? std::clamp<std::int64_t>(outputs[1].dims[0], 0, kMostChannels) : 0;
  const auto cells = cells_of(input_width, input_height);
  const bool is_full = cells > 0 && (rows == cells || rows == 3 * cells || columns == cells);
  YoloLayout layout;
  layout.task = task;
  layout.masks = static_cast<std::size_t>(masks);
  const auto final_beside = beside_classes(task, options, masks, columns, 6);
  if (final_beside && columns == 6 + *final_beside && !is_full && rows <= kMostFinalBoxes &&
      !(names == 1 && rows < 0)) {
    layout.kind = YoloKind::final;
    layout.channels = static_cast<std::size_t>(columns);
    layout.keypoints = keypoints_of(options, *final_beside);
    return layout;
  }
  const bool in_columns = rows > 0 && (columns < 0 || rows < columns);
  const auto channels = in_columns ? rows : columns;
  if (channels < 1 || channels > kMostChannels) return refuse();
  if (task != YoloTask::detect && !in_columns && !is_full && rows > 0 && rows <= kMostFinalBoxes) return refuse();
  const auto beside = beside_classes(task, options, masks, channels, 4);
  if (!beside) return refuse();
  layout.kind = in_columns ? YoloKind::columns
                : task == YoloTask::detect && (names == 0 || columns != 4 + names + masks)
                    ? YoloKind::rows_with_objectness
                    : YoloKind::rows;
  const auto classes = channels - static_cast<std::int64_t>(layout.first_class()) - *beside;
  if (classes < 1 || (names > 0 && classes != names)) return refuse();
  layout.channels = static_cast<std::size_t>(channels);
  layout.classes = static_cast<std::size_t>(classes);
  layout.keypoints = keypoints_of(options, *beside);
  return layout;
}

base::Result<YoloLayout> find_grid_layout(const DecoderOptions& options, std::span<const OutputShape> outputs,
                                          int input_width, int input_height) {
  const auto cells = cells_of(input_width, input_height);
  const auto names = static_cast<std::int64_t>(options.labels.size());
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "decoder yolox: {}: expected {}x(5+{})", shapes_text(outputs),
                cells > 0 ? std::to_string(cells) : "N", names > 0 ? fmt::format("{} labels", names) : "classes");
  };
  if (outputs.size() != 1 || outputs[0].dims.size() != 2) return refuse();
  const auto rows = outputs[0].dims[0];
  const auto columns = outputs[0].dims[1];
  if (rows == 0 || (rows > 0 && cells > 0 && rows != cells) || columns < 6 || columns > kMostChannels ||
      (names > 0 && columns != 5 + names))
    return refuse();
  return YoloLayout{YoloKind::grid,
                    YoloTask::detect,
                    static_cast<std::size_t>(columns),
                    static_cast<std::size_t>(columns - 5),
                    0,
                    {}};
}

schema::Message layout_message(const YoloLayout& layout) {
  using enum messages::LayoutYoloForm;
  messages::LayoutYolo out;
  switch (layout.kind) {
    case YoloKind::rows_with_objectness: out.form = objectness; break;
    case YoloKind::grid: out.form = grid; break;
    case YoloKind::rows: out.form = rows; break;
    case YoloKind::columns: out.form = columns; break;
    case YoloKind::final: out.form = layout.task == YoloTask::obb ? centres : corners; break;
  }
  out.classes = static_cast<std::int64_t>(layout.classes);
  out.has_angle = layout.task == YoloTask::obb;
  if (layout.task == YoloTask::pose) {
    out.keypoints = static_cast<std::int64_t>(layout.keypoints.count);
    out.values = static_cast<std::int64_t>(layout.keypoints.values);
  }
  if (layout.masks > 0) out.masks = static_cast<std::int64_t>(layout.masks);
  return messages::layout_yolo(out);
}

}  // namespace ridgeline::stream
