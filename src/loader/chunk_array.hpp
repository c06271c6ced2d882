// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "loader/chunk_table.hpp"
#include "loader/index_file.hpp"

namespace ridgeline::loader {

// The chunk indexes that are arrays; `address` is that of the array's header. Errors: corrupt, unsupported (a form that
// we do not read), io.

/// All greatest extents are limited: one block of elements, in pages when it is long.
[[nodiscard]] base::Result<void> read_fixed_array(const IndexFile& file, std::uint64_t address, const ArrayOrder& order,
                                                  ChunkTable& table);

/// One axis without a limit: the first elements in an index block, the others in data blocks whose lengths and numbers
/// double in turn, later ones below super blocks, long ones in pages.
[[nodiscard]] base::Result<void> read_extensible_array(const IndexFile& file, std::uint64_t address,
                                                       const ArrayOrder& order, ChunkTable& table);

}  // namespace ridgeline::loader
