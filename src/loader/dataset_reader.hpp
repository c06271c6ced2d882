// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "loader/chunk_cache.hpp"
#include "loader/chunk_reader.hpp"
#include "loader/data_file.hpp"
#include "loader/dataset_layout.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/row_cache.hpp"

namespace ridgeline::loader {

/// One row wanted at one place in memory.
struct RowRequest {
  std::uint64_t row = 0;
  std::byte* to = nullptr;                      ///< row_bytes() bytes
  std::uint64_t next_use = ChunkCache::kNever;  ///< position at which a row of the same chunk is wanted again
};

/// What is known of the epoch's order, for a dataset whose decoded rows are put aside.
struct RowCachePlan {
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};
  RowCache* row_cache = nullptr;
  const std::vector<std::uint32_t>* place_of_row = nullptr;  ///< kNoPlace: not in this epoch
  std::uint64_t batch_end = 0;                               ///< first place beyond the batch being filled
  std::uint64_t floor = 0;                                   ///< places before were delivered
};

/// Rows of one dataset, by whichever way its layout allows: single rows from plain chunks, whole chunks through the
/// cache where filters must be undone or rows are small, all rows from memory where they are few and small, the library
/// for the rest. Thread-safe; each thread brings its scratch.
class DatasetReader {
 public:
  /// `file` and `cache` must outlive the reader; `cache_id` tells datasets apart in the cache.
  [[nodiscard]] static base::Result<std::unique_ptr<DatasetReader>> open(const DataFile& file, DatasetLayout layout,
                                                                         ChunkCache* cache, unsigned cache_id);

  /// Whether all rows together are little enough to be kept: labels, where many threads that each ask the kernel for a
  /// few bytes of the same pages would wait for each other.
  [[nodiscard]] bool is_small() const noexcept;
  /// The first read() loads all rows; where that fails, each read goes to the file as it would have. Before any read.
  void keep_all_rows() noexcept;

  /// Fills every request; those of a chunk must stand together, sorted by row. Errors name file, dataset and chunk (or
  /// rows, of the library). With a `plan`, decoded rows come from and go to its row cache instead of the chunk cache;
  /// only if can_cache_rows().
  [[nodiscard]] base::Result<void> read(std::span<const RowRequest> requests, ReadScratch& scratch,
                                        ReadStatistics& statistics, const RowCachePlan* plan = nullptr) const;
  [[nodiscard]] const DatasetLayout& layout() const noexcept { return layout_; }
  /// The file whose bytes are read: the one that was opened, or the one that an external link leads to.
  [[nodiscard]] const DataFile& file() const noexcept { return file_; }
  /// True when reading a row may mean reading (and decoding) its whole chunk.
  [[nodiscard]] bool uses_cache() const noexcept { return uses_cache_; }
  /// True when decoded chunks are kept for other threads, which wait for one that is in the making.
  [[nodiscard]] bool shares_chunks() const noexcept { return uses_cache_ && cache_ != nullptr && cache_->budget() > 0; }
  /// True when chunks must be decoded whole and hold several complete rows.
  [[nodiscard]] bool can_cache_rows() const noexcept {
    return whole_rows_ && !keeps_all_rows_ && !layout_.filters.empty() && layout_.rows_per_chunk() > 1;
  }

 private:
  /// The part of a row that one chunk holds: where it begins in the row and how far it goes, on axes 1 and up.
  struct Box {
    std::vector<std::uint64_t> begin;
    std::vector<std::uint64_t> extent;
  };
  DatasetReader(const DataFile& file, std::unique_ptr<DataFile> linked, DatasetLayout layout, ChunkCache* cache,
                unsigned cache_id);
  [[nodiscard]] base::Result<void> read_stored(std::span<const RowRequest> requests, ReadScratch& scratch,
                                               ReadStatistics& statistics, const RowCachePlan* plan) const;
  /// All rows, one after another, or nullptr where they are not kept or could not be loaded.
  [[nodiscard]] const std::byte* kept_rows(ReadScratch& scratch, ReadStatistics& statistics) const;
  /// One chunk's share of the requests of a group. False, with nothing done, when the chunk is in the making and
  /// `may_wait` is not set.
  [[nodiscard]] base::Result<bool> read_box(std::uint64_t box, std::span<const RowRequest> group, ReadScratch& scratch,
                                            ReadStatistics& statistics, const RowCachePlan* plan, bool may_wait) const;
  [[nodiscard]] base::Result<void> read_by_row_cache(std::uint64_t index, std::span<const RowRequest> group,
                                                     ReadScratch& scratch, ReadStatistics& statistics,
                                                     const RowCachePlan& plan) const;
  [[nodiscard]] base::Result<void> read_rows_of_chunk(std::uint64_t index, const Box& box,
                                                      std::span<const RowRequest> group, ReadScratch& scratch,
                                                      ReadStatistics& statistics) const;
  [[nodiscard]] base::Result<bool> read_whole_chunk(std::uint64_t index, const Box& box,
                                                    std::span<const RowRequest> group, ReadScratch& scratch,
                                                    ReadStatistics& statistics, bool may_wait) const;
  [[nodiscard]] base::Result<void> read_by_library(std::span<const RowRequest> requests,
                                                   ReadStatistics& statistics) const;
  [[nodiscard]] Box box(std::uint64_t index) const;
  void copy_row(const Box& box, const std::byte* chunk_row, std::byte* row) const;

  std::unique_ptr<DataFile> linked_;  ///< the file that an external link leads to
  const DataFile& file_;
  DatasetLayout layout_;
  ChunkReader chunks_;
  ChunkCache* cache_;
  std::uint64_t cache_key_;
  std::optional<LibraryDataset> library_;
  std::uint64_t box_count_ = 1;        ///< chunks that a row touches
  std::uint64_t chunk_row_bytes_ = 0;  ///< one row of a chunk, full size also at the edge
  bool whole_rows_ = false;            ///< a chunk holds complete rows: no box to cut out
  bool uses_cache_ = false;
  bool keeps_all_rows_ = false;
  mutable std::once_flag loading_;
  mutable std::vector<std::byte> rows_;                    ///< empty when they could not be loaded
  mutable std::atomic<const std::byte*> loaded_{nullptr};  ///< rows_, once they are whole
};

}  // namespace ridgeline::loader
