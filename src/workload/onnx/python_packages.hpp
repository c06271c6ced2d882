// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// An installed distribution, as pip or a package of the system wrote it down; no Python is started.
struct PythonPackage {
  std::string name;              ///< lower case, with dashes: "onnxruntime-gpu"
  std::string version;           ///< "1.31.1"
  std::filesystem::path record;  ///< the list of its files

  [[nodiscard]] std::string title() const { return name + " " + version; }
  /// Whether it installed that file, told relative to the package folder.
  [[nodiscard]] bool owns(const std::string& file) const;
};

/// Those of a package folder, by name.
[[nodiscard]] std::vector<PythonPackage> python_packages(const std::filesystem::path& folder);

/// Of `packages`, those that installed the module onnxruntime: more than one, and each overwrote files of the other.
[[nodiscard]] std::vector<std::string> onnxruntime_builds(const std::vector<PythonPackage>& packages);

/// Libraries of execution providers in a package folder: of each module onnxruntime_ep_*, and of onnxruntime_qnn, the
/// file that its get_library_path() returns.
[[nodiscard]] std::vector<schema::PluginLibrary> plugin_libraries(const std::filesystem::path& folder,
                                                                  const std::vector<PythonPackage>& packages);

}  // namespace ridgeline::workload
