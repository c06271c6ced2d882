// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::loader {

/// Files in which parts of an HDF5 file's data are, other than itself: targets of external links, sources of virtual
/// datasets, external raw storage, and what these lead to in turn. A name that may mean several files, depending on
/// the folder and the environment, gives each that is there; one that means none gives nothing. Sorted.
struct LinkedFiles {
  std::vector<std::filesystem::path> files;
  bool complete = true;  ///< false: more links than are followed
};

/// Empty for what is no HDF5 file, or a damaged one. Reads metadata in a child process, as they may crash the library.
/// Errors: io (no process can be started).
[[nodiscard]] base::Result<LinkedFiles> find_linked_files(const std::filesystem::path& path);

/// What tells whether data were changed: size and modification time of a file, of the files that an HDF5 file leads to,
/// or of all files in a folder. Not their content.
struct DataFingerprint {
  std::string text;
  std::size_t files = 0;
  bool complete = true;  ///< false: more files or links than are looked at
};

/// Errors: not_found (no such file or folder), io.
[[nodiscard]] base::Result<DataFingerprint> data_fingerprint(const std::filesystem::path& path);

}  // namespace ridgeline::loader
