// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ridgeline::loader {

// Where the HDF5 library looks for the files that a file names.

/// An environment variable; "" where it is not set.
[[nodiscard]] std::string hdf5_variable(const char* name);

/// A folder named in the library's environment variables; ${ORIGIN} is that of the HDF5 file.
[[nodiscard]] std::filesystem::path prefix_folder(std::string_view prefix, const std::filesystem::path& origin);

/// The name of a virtual dataset's source: H5Pget_virtual_filename, H5Pget_virtual_dsetname.
using VirtualName = ssize_t (*)(hid_t, std::size_t, char*, std::size_t);
[[nodiscard]] std::string virtual_name(VirtualName get, hid_t properties, std::size_t index);

/// "%b" is the number of the block, "%%" a per cent sign. `has_block` becomes true where the number occurs.
[[nodiscard]] std::string expand_block(const std::string& pattern, std::uint64_t block, bool& has_block);

}  // namespace ridgeline::loader
