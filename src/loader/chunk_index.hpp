// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "loader/data_file.hpp"
#include "loader/dataset_layout.hpp"

namespace ridgeline::loader {

/// Where a dataset's object header lies and how the file writes numbers.
struct HeaderPlace {
  std::uint64_t base = 0;  ///< bytes before the HDF5 part (the user block); every address in the file counts from here
  std::uint64_t header = 0;  ///< address of the object header
  unsigned address_bytes = 8;
  unsigned length_bytes = 8;
  /// Extents that the dataset may grow to, all ones: without limit; empty: it cannot grow. Arrays of chunks are
  /// numbered by these, not by the present shape.
  std::vector<std::uint64_t> max_shape;
};

struct ChunkIndex {
  std::optional<std::vector<ChunkEntry>> chunks;  ///< the whole grid, last axis fastest
  std::string unread;  ///< why there are none: a form that we do not read, for which the library must be asked
};

/// Reads the chunk index straight from the file, in time linear in the number of chunks. (The HDF5 library
/// before 1.10.10 offers chunks by number only, each found by a walk from the start: 65,536 chunks take half a minute.)
/// Formats: B-trees of version 1 and 2, fixed and extensible array, single chunk and implicit, per the HDF5 File Format
/// Specification 3.0. `layout` supplies dataset, shapes, element size and filters. Checksums must be right (all formats
/// but the version 1 B-tree have them), entries inside the grid, in order, each once. Errors: corrupt, naming dataset
/// and place.
[[nodiscard]] base::Result<ChunkIndex> read_chunk_index(const ByteSource& file, const HeaderPlace& place,
                                                        const DatasetLayout& layout);

}  // namespace ridgeline::loader
