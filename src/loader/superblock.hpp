// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::loader {

/// The start of an HDF5 file, read by ourselves to tell why the library refuses one.
struct Superblock {
  std::uint64_t offset = 0;  ///< of the signature: behind a user block, if there is one
  unsigned version = 0;
  std::optional<std::uint64_t> end_of_file;  ///< first byte past all data; nullopt: a form that we do not know
  bool in_parts = false;                     ///< written by the family, split or multi driver: one of several files
};

/// Looks for the signature where the format allows it: at 0, 512, 1024, 2048 and so on. nullopt: it is nowhere.
[[nodiscard]] std::optional<Superblock> find_superblock(const ByteSource& file);

/// What is wrong with a file that the library refuses for `reason`, and what to do: no HDF5 file, cut off, in use
/// elsewhere, too new, one of several files that belong together, or damaged. To follow the file's name.
[[nodiscard]] base::Error refused_file(const ByteSource& file, const std::string& reason,
                                       const std::string& library_version);

}  // namespace ridgeline::loader
