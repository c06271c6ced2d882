// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "loader/data_file.hpp"
#include "loader/dataset_layout.hpp"
#include "loader/filter_pipeline.hpp"

namespace ridgeline::loader {

/// Where one thread's time and bytes went; the loader adds them up.
struct ReadStatistics {
  ReadTally tally;
  std::uint64_t bytes_delivered = 0;
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunk_cache_hits = 0;  ///< decoded chunks, or decoded rows put aside, that were found
  double read_seconds = 0;             ///< in pread; without filters this includes the copy to its destination
  double decode_seconds = 0;           ///< undoing filters
  double copy_seconds = 0;             ///< from decoded chunks into the batch

  ReadStatistics& operator+=(const ReadStatistics& other);
};

/// Requests [begin, begin + count) of a read whose chunk another thread is decoding: looked at again at the end.
struct LaterRequests {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::uint64_t box = 0;  ///< which of the chunks that their rows touch
};

/// Memory and tools that one thread keeps between reads.
struct ReadScratch {
  FilterPipeline pipeline;
  std::vector<std::byte> stored;
  std::vector<std::byte> row;
  std::vector<std::byte> chunk;
  std::vector<iovec> parts;
  std::vector<LaterRequests> later;
  std::vector<std::pair<std::uint64_t, std::byte*>> missing;  ///< rows that no cache had, and where they go
};

/// Reads chunks of one dataset: pread and filters, no library, no lock. Thread-safe; each thread brings its own
/// scratch.
class ChunkReader {
 public:
  ChunkReader(const DataFile& file, const DatasetLayout& layout) : file_(file), layout_(layout) {}

  /// Whole chunk `index` into `out`: chunk_bytes() bytes in the host's byte order (of contiguous data, the stored
  /// rows). A missing chunk is filled. Errors: corrupt, io, naming file, dataset and chunk.
  [[nodiscard]] base::Result<void> read(std::uint64_t index, std::span<std::byte> out, ReadScratch& scratch,
                                        ReadStatistics& statistics) const;
  /// True when nothing has to be undone for this chunk, so that single rows of it can be read.
  [[nodiscard]] bool plain(const ChunkEntry& chunk) const noexcept;
  /// `parts` from byte `from` of a plain, present chunk; bytes arrive as they lie in the file.
  [[nodiscard]] base::Result<void> read_plain(std::uint64_t index, std::uint64_t from, std::span<iovec> parts,
                                              ReadStatistics& statistics) const;
  /// Fill values over `out`, whole elements.
  void fill(std::span<std::byte> out) const noexcept;
  /// Elements of a big-endian file to the host's order, in place.
  void to_host_order(std::span<std::byte> elements) const noexcept;

 private:
  [[nodiscard]] tl::unexpected<base::Error> named(base::Error error, std::uint64_t index) const;
  const DataFile& file_;
  const DatasetLayout& layout_;
};

}  // namespace ridgeline::loader
