// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::workload {

/// A file of CUDA, cuDNN, TensorRT, the NVIDIA driver or ONNX Runtime that a process has mapped.
struct LoadedLibrary {
  std::string name;  ///< "libcudart.so": the file's name without its version
  std::filesystem::path path;
  std::string version;  ///< "13.0.96", or "" when neither the file's name nor the library itself tells
};

/// Those of this process, each file once, sorted by path. Libraries that were linked with their version in the file
/// name are believed; the others are asked (cudnnGetVersion and the like, none of which starts the GPU).
[[nodiscard]] std::vector<LoadedLibrary> loaded_gpu_libraries();

/// The library at `path`, asked for its version if this process has it loaded.
[[nodiscard]] LoadedLibrary loaded_library(const std::filesystem::path& path);

/// Those of the files that are such libraries.
[[nodiscard]] std::vector<std::filesystem::path> gpu_libraries_among(std::vector<std::filesystem::path> files);

/// "/x/libcudart.so.13 (13.0.96)", as RuntimeIdentity::loaded_libraries holds them.
[[nodiscard]] std::vector<std::string> describe(const std::vector<LoadedLibrary>& libraries);

}  // namespace ridgeline::workload
