// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/execution_provider.hpp"
#include "schema/trial_spec.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::workload {

/// A GPU library that this process has open.
struct OpenedLibrary {
  std::string soname;  ///< as the provider asks for it: "libcublas.so.13"
  std::filesystem::path path;
  schema::Message where;  ///< "the system's loader", "Python environment VIRTUAL_ENV=/x"
};

/// A GPU library that could not be opened.
struct MissingLibrary {
  std::string soname;
  schema::Message problem;    ///< names it and what needs it
  schema::Message looked_in;  ///< every place; empty for a library of the driver
  schema::Message hint;       ///< the fix
  bool required = true;       ///< false: the provider works without it
};

/// What a provider library needs, opened in dependency order and kept open until the process ends.
struct ProviderLibraries {
  std::vector<OpenedLibrary> opened;
  std::vector<MissingLibrary> missing;
  /// What to tell of the required libraries that are missing; nullopt when none is.
  [[nodiscard]] std::optional<schema::ProviderNote> problem() const;
  /// unavailable with that problem.
  [[nodiscard]] base::Result<void> usable() const;
};

/// A place where GPU libraries may lie.
struct LibraryPlace {
  schema::Message label;
  std::vector<std::filesystem::path> folders;
};

/// In search order, after the system's loader: beside the provider, Python environments (nvidia/*/lib, tensorrt_libs;
/// also lib of a Conda environment), CUDA_HOME, /usr/local/cuda*.
[[nodiscard]] std::vector<LibraryPlace> gpu_library_places(const std::filesystem::path& provider_file,
                                                           const OrtSearchEnvironment& environment);

/// Makes the loader able to resolve all GPU libraries that `provider_file` (libonnxruntime_providers_cuda.so or
/// _tensorrt.so) needs or opens by name: each is taken from the loader's own search, else from the first of
/// gpu_library_places that has it. A second call for the same file answers from memory. Errors: unavailable when the
/// file itself is absent or no shared library; what it needs and lacks is in `missing`.
[[nodiscard]] base::Result<ProviderLibraries> prepare_provider_libraries(const std::filesystem::path& provider_file,
                                                                         const OrtSearchEnvironment& environment);

/// Of the provider's files beside the core library the first that is not there; nullopt: they are.
[[nodiscard]] std::optional<schema::ProviderNote> missing_provider_file(const std::filesystem::path& core,
                                                                        const schema::ExecutionProvider& provider);

/// The provider's file beside the core library. Errors: unavailable naming the file that is not there
/// (also libonnxruntime_providers_shared.so, which they all need).
[[nodiscard]] base::Result<std::filesystem::path> provider_file(const std::filesystem::path& core,
                                                                const schema::ExecutionProvider& provider);

}  // namespace ridgeline::workload
