// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::workload {

/// What a shared library says about itself and about those it needs.
struct ElfDynamic {
  std::string soname;               ///< DT_SONAME, or ""
  std::vector<std::string> needed;  ///< DT_NEEDED in order: "libcudart.so.13"
};

/// Reads the dynamic section of a 64-bit little-endian ELF file without loading it (a few KiB are read, whatever its
/// size). Errors: not_found, io, corrupt (not such a file, or cut short).
[[nodiscard]] base::Result<ElfDynamic> read_elf_dynamic(const std::filesystem::path& path);

}  // namespace ridgeline::workload
