// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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
  bool fixed_extent =
      true;  ///< the dataset cannot grow: arrays are numbered by the greatest extent, not the present one
};

/// Reads the chunk index straight from the file, in time linear in the number of chunks. (The HDF5 library
/// before 1.10.10 offers chunks by number only, each found by a walk from the start: 65,536 chunks take half a minute.)
/// Formats: version 1 B-tree, fixed array, single chunk and implicit, per the HDF5 File Format Specification 3.0;
/// nullopt for the others (extensible array, version 2 B-tree), which the caller asks the library for. `layout`
/// supplies dataset, shapes, element size and filters. Entries are checked: inside the grid, in order, each once.
/// Errors: corrupt, naming dataset and place.
[[nodiscard]] base::Result<std::optional<std::vector<ChunkEntry>>> read_chunk_index(const ByteSource& file,
                                                                                    const HeaderPlace& place,
                                                                                    const DatasetLayout& layout);

}  // namespace ridgeline::loader
