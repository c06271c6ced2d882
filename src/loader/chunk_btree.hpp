// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "loader/chunk_table.hpp"
#include "loader/index_file.hpp"

namespace ridgeline::loader {

// The chunk indexes that are trees; `address` is where the tree begins. Errors: corrupt, unsupported (a form that we do
// not read), io.

/// The older format's tree, sorted by offset. It has no checksums.
[[nodiscard]] base::Result<void> read_btree_1(const IndexFile& file, std::uint64_t address, ChunkTable& table);

/// The newer format's tree, for several axes without a limit.
[[nodiscard]] base::Result<void> read_btree_2(const IndexFile& file, std::uint64_t address, ChunkTable& table);

}  // namespace ridgeline::loader
