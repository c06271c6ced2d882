// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ridgeline::workload {

/// What a file is when it is certainly no ONNX model, and what to do about it.
struct ForeignFormat {
  std::string what;  ///< "a TensorFlow Lite model"
  std::string next;  ///< "convert it to ONNX first"
};

/// Recognises other formats by their first bytes (the first 4 KiB are enough), never by the file's name alone.
[[nodiscard]] std::optional<ForeignFormat> recognise_foreign_format(std::string_view head);

/// For bytes that parse as protobuf, or fail to, without giving an ONNX model: a guess from the name and the content.
[[nodiscard]] std::optional<ForeignFormat> recognise_foreign_protobuf(const std::filesystem::path& path,
                                                                      std::string_view head);

}  // namespace ridgeline::workload
