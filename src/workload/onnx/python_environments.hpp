// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "schema/message.hpp"

namespace ridgeline::workload {

struct OrtSearchEnvironment;

/// A Python installation or environment whose packages may hold libraries.
struct PythonEnvironment {
  schema::Message label;         ///< "Python environment VIRTUAL_ENV=/x"
  std::filesystem::path prefix;  ///< holds lib/python3.*
};

/// Those in sight, in search order: VIRTUAL_ENV, CONDA_PREFIX, that of the first python3 on PATH, pip's --user folder.
[[nodiscard]] std::vector<PythonEnvironment> python_environments(const OrtSearchEnvironment& environment);

/// The installation that `python3` starts by this PATH, through pyenv's script as well; "" when there is none.
[[nodiscard]] std::filesystem::path python_prefix_on_path(const std::string& path);

/// Its existing package folders: {lib,lib64,local/lib}/python3*/{site,dist}-packages, newest Python first.
[[nodiscard]] std::vector<std::filesystem::path> python_package_folders(const std::filesystem::path& prefix);

/// The numbers in a file name, for ordering versions: "libx.so.9.10" gives {9, 10}.
[[nodiscard]] std::vector<long> version_numbers(const std::string& name);

/// Folders directly in `parent` whose names start with `prefix`, highest version first; none when it does not exist.
[[nodiscard]] std::vector<std::filesystem::path> folders_in(const std::filesystem::path& parent,
                                                            std::string_view prefix);

}  // namespace ridgeline::workload
