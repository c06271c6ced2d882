// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "workload/onnx/onnx_proto.hpp"

namespace ridgeline::workload {

/// Where a tensor's bytes lie outside the model file.
struct ExternalSlice {
  std::filesystem::path file;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Files beside a model that hold its weights.
struct ExternalData {
  std::map<std::string, std::filesystem::path> files;  ///< by location as the model writes it
  std::int64_t bytes = 0;                              ///< of all these files
  std::vector<schema::Message> notes;
};

/// Finds every external tensor's file and checks that it holds the tensor. Locations are relative to the model's
/// folder. Errors, each naming tensor and file: not_found, io, corrupt (too short for the tensor, malformed numbers).
[[nodiscard]] base::Result<ExternalData> check_external_data(const onnx::ModelProto& model,
                                                             const std::filesystem::path& model_path);

/// Where one external tensor lies, unchecked against the disk. Error: corrupt (no location, malformed numbers).
[[nodiscard]] base::Result<ExternalSlice> external_slice(const onnx::TensorProto& tensor,
                                                         const std::filesystem::path& model_path);

/// SHA-256 of the model file; with external files, of the text "<sha of model>\n" and "<location> <sha>\n" of each
/// file in order of location. Errors: not_found, io.
[[nodiscard]] base::Result<std::string> sha256_model(const std::filesystem::path& model_path,
                                                     const ExternalData& external);

}  // namespace ridgeline::workload
