// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// How a YOLO model's output holds its boxes. All but `final` have the centre and size, in pixels of the input but for
/// `grid`.
enum class YoloKind {
  rows_with_objectness,  ///< N x (5 + classes): YOLOv5 to v7
  grid,                  ///< the same in units of the cells of strides 8, 16 and 32, sizes as logarithms: YOLOX
  rows,                  ///< N x (4 + classes)
  columns,               ///< (4 + classes) x N: YOLOv8, v9, v11
  final,                 ///< N x 6: corners, score, class; nothing left to suppress (YOLOv10, v26)
};

/// What a YOLO model finds.
enum class YoloTask {
  detect,  ///< boxes; with masks these are left out
  pose,    ///< boxes with keypoints
  obb,     ///< boxes with an angle, of which `final` ones have the centre and size too
};

struct YoloLayout {
  YoloKind kind = YoloKind::columns;
  YoloTask task = YoloTask::detect;
  std::size_t channels = 0;  ///< values of a box
  std::size_t classes = 0;   ///< 0 for `final`
  std::size_t masks = 0;     ///< coefficients that are left out
  KeypointShape keypoints;   ///< of a pose

  /// The first score of a class.
  [[nodiscard]] std::size_t first_class() const noexcept {
    return kind == YoloKind::rows_with_objectness || kind == YoloKind::grid ? 5 : 4;
  }
  /// The first value behind the classes: an angle, a keypoint or a mask's coefficient.
  [[nodiscard]] std::size_t beside() const noexcept { return kind == YoloKind::final ? 6 : first_class() + classes; }
};

/// The layout of the first output. With a second one of Mx?x? (prototypes of masks) the last M channels are left out.
/// Keypoints are as many as `options` says, or of one class and three values each. A side of the input is -1 where it
/// is not known. Errors: invalid_argument (no such layout; a number of classes other than that of the labels).
[[nodiscard]] base::Result<YoloLayout> find_yolo_layout(YoloTask task, const DecoderOptions& options,
                                                        std::span<const OutputShape> outputs, int input_width,
                                                        int input_height);

/// That of YOLOX, which has a box for each cell. Errors: as find_yolo_layout.
[[nodiscard]] base::Result<YoloLayout> find_grid_layout(const DecoderOptions& options,
                                                        std::span<const OutputShape> outputs, int input_width,
                                                        int input_height);

/// Cells at strides 8, 16 and 32 together; 0: the input is not known.
[[nodiscard]] std::int64_t cells_of(std::int64_t width, std::int64_t height);

/// "boxes in columns of 4 + 80 classes"
[[nodiscard]] schema::Message layout_message(const YoloLayout& layout);

}  // namespace ridgeline::stream
