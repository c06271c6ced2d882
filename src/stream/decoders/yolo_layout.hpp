// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// How a YOLO model's output holds its boxes; all have the centre and size in pixels of the input, but for `final`.
enum class YoloKind {
  rows_with_objectness,  ///< N x (5 + classes): YOLOv5 to v7
  rows,                  ///< N x (4 + classes)
  columns,               ///< (4 + classes) x N: YOLOv8, v9, v11
  final,                 ///< N x 6: corners, score, class; nothing left to suppress (YOLOv10, v26)
};

struct YoloLayout {
  YoloKind kind = YoloKind::columns;
  std::int64_t channels = 0;  ///< values a box
  std::int64_t classes = 0;   ///< 0 for `final`
};

/// The layout of the first output. With a second one of Mx?x? (prototypes of masks) the last M channels are left out.
/// A side of the input is -1 where it is not known. Errors: invalid_argument (no such layout; a number of classes other
/// than that of the labels).
[[nodiscard]] base::Result<YoloLayout> find_yolo_layout(std::span<const std::string> labels,
                                                        std::span<const OutputShape> outputs, int input_width,
                                                        int input_height);

/// For people: "boxes in columns of 4 + 80 classes".
[[nodiscard]] std::string to_text(const YoloLayout& layout);

}  // namespace ridgeline::stream
