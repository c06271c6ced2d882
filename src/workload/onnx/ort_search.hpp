// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgeline::workload {

/// All that the search for the library depends on, so that tests can pretend.
struct OrtSearchEnvironment {
  std::string ort_library;            ///< RIDGELINE_ORT_LIBRARY
  std::string ort_root;               ///< ONNXRUNTIME_ROOT
  std::string virtual_env;            ///< VIRTUAL_ENV
  std::string conda_prefix;           ///< CONDA_PREFIX
  std::string path;                   ///< PATH, searched for python3
  std::string home;                   ///< HOME: Python packages installed by pip --user
  std::string ld_library_path;        ///< LD_LIBRARY_PATH, for messages: the loader reads it by itself
  std::string cuda_home;              ///< CUDA_HOME or CUDA_PATH
  std::filesystem::path cuda_parent;  ///< holds cuda, cuda-13.0, ...: "/usr/local"
  std::filesystem::path executable;
  std::filesystem::path cache;  ///< base::cache_folder(): what scripts/fetch_onnxruntime.sh fills
  [[nodiscard]] static OrtSearchEnvironment of_this_process();
};

/// One place of the search order.
struct OrtPlace {
  std::string label;               ///< for people: "RIDGELINE_ORT_LIBRARY=/x", "beside the program (/a/bin)"
  std::vector<std::string> files;  ///< to hand to the loader, best first; empty: nothing is there
  bool named_by_user = false;      ///< the search ends here, found or not
};

/// Where to look, in order: --ort-library, RIDGELINE_ORT_LIBRARY, beside the program, ONNXRUNTIME_ROOT, Python
/// environments, the cache folder, the system's loader. A place the user named is the only one.
[[nodiscard]] std::vector<OrtPlace> ort_places(const std::string& ort_library_flag,
                                               const OrtSearchEnvironment& environment);

/// libonnxruntime.so* files of a folder, the plain name first, then newest version first. Provider libraries are not
/// runtimes.
[[nodiscard]] std::vector<std::string> ort_files_in(const std::filesystem::path& folder);

}  // namespace ridgeline::workload
