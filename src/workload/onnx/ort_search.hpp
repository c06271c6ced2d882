// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "schema/found_runtime.hpp"

namespace ridgeline::workload {

/// All that the search for the library depends on, so that tests can pretend.
struct OrtSearchEnvironment {
  std::string ort_library;            ///< RIDGELINE_ORT_LIBRARY
  std::string ort_root;               ///< ONNXRUNTIME_ROOT
  std::string virtual_env;            ///< VIRTUAL_ENV
  std::string conda_prefix;           ///< CONDA_PREFIX
  std::string path;                   ///< PATH, searched for python3
  std::string home;                   ///< HOME: Python packages installed by pip --user
  std::string ld_library_path;        ///< LD_LIBRARY_PATH
  std::string cuda_home;              ///< CUDA_HOME or CUDA_PATH
  std::filesystem::path cuda_parent;  ///< holds cuda, cuda-13.0, ...: "/usr/local"
  std::filesystem::path executable;
  std::filesystem::path cache;  ///< base::cache_folder(): what scripts/fetch_onnxruntime.sh fills
  std::vector<std::filesystem::path> system_folders{};  ///< of libraries, as the loader's configuration lists them
  [[nodiscard]] static OrtSearchEnvironment of_this_process();
};

/// Every ONNX Runtime in sight, by its files, in this order: --ort-library, or else RIDGELINE_ORT_LIBRARY,
/// ONNXRUNTIME_ROOT, the active Python environments, our own copy (beside the program, the cache), the system; then
/// what --runtime names. A file that lies in two places is one runtime. A place that the user named is listed even
/// where nothing is there, with the problem; so is a Python package that has no library for C.
[[nodiscard]] schema::RuntimeSearch find_runtimes(const schema::RuntimeRequest& request,
                                                  const OrtSearchEnvironment& environment);

/// libonnxruntime.so* files of a folder, the plain name first, then newest version first. Provider libraries are not
/// runtimes.
[[nodiscard]] std::vector<std::string> ort_files_in(const std::filesystem::path& folder);

}  // namespace ridgeline::workload
