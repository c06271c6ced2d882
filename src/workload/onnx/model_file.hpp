// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/error.hpp"
#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// An ONNX file as it was parsed: it has a graph and names at least one operator set.
struct ModelFile {
  onnx::ModelProto model;
  std::int64_t bytes = 0;
};

/// Errors: not_found; io (a directory, no permission); invalid_argument (empty, another format, recognised by name
/// where possible); corrupt (truncated); unsupported (2 GiB or more, protobuf's limit).
[[nodiscard]] base::Result<ModelFile> load_model_file(const std::filesystem::path& path);

}  // namespace ridgeline::workload
