// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "loader/element_type.hpp"

namespace ridgeline::loader {

enum class Storage : std::uint8_t {
  chunked,     ///< read by us, chunk by chunk
  contiguous,  ///< read by us, treated as chunks of whole rows
  compact,     ///< lies in the object header: kept in the layout itself
  library      ///< read by the HDF5 library under its lock; `library_reason` says why
};

enum class Filter : std::uint8_t { deflate, shuffle, fletcher32, lzf };

/// One step of the filter pipeline; bit i of a chunk's filter mask says that step i was left out for it.
struct FilterStep {
  Filter filter = Filter::deflate;
  std::uint32_t element_size = 0;  ///< shuffle only: bytes that are shuffled together
  friend bool operator==(const FilterStep&, const FilterStep&) = default;
};

/// Where one stored chunk lies, from the first byte of the file (user block included).
struct ChunkEntry {
  static constexpr std::uint64_t kMissing = ~std::uint64_t{0};
  std::uint64_t offset = kMissing;  ///< kMissing: never written, reads as the fill value
  std::uint32_t size = 0;           ///< stored bytes, after filters
  std::uint32_t filter_mask = 0;
  [[nodiscard]] bool missing() const noexcept { return offset == kMissing; }
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

/// Everything needed to read one dataset without the HDF5 library. Built once (layout_reader.hpp), then kept in a
/// cache. A sample is a row: one index of the first axis. Sizes are in elements unless a name says bytes.
struct DatasetLayout {
  std::string dataset;
  ElementType element;
  Storage storage = Storage::library;
  std::string library_reason;  ///< why storage is library; chunked: why the library had to find the chunks; else ""
  std::vector<std::uint64_t> shape;        ///< as in the file; empty for a scalar
  std::vector<std::uint64_t> chunk_shape;  ///< as many axes as shape; for contiguous data whole rows
  std::vector<FilterStep> filters;         ///< in the order of writing; undone backwards
  std::vector<std::byte> fill_value;       ///< element.size bytes in the host's byte order
  std::uint64_t contiguous_offset = ChunkEntry::kMissing;
  std::vector<ChunkEntry> chunks;  ///< chunked: the whole grid, last axis fastest
  std::vector<std::byte> compact;  ///< compact: all elements in the host's byte order
  std::string data_file;           ///< absolute path of the file that holds the dataset; "": the one that was opened
  bool needs_other_files =
      false;  ///< links, external storage or sources: a change there is not seen in the file opened
  std::vector<std::string> notes;  ///< what a user should know of values that lie elsewhere or nowhere

  [[nodiscard]] std::uint64_t rows() const noexcept { return shape.empty() ? 1 : shape.front(); }
  [[nodiscard]] std::uint64_t row_elements() const noexcept;
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return row_elements() * element.size; }
  [[nodiscard]] std::uint64_t chunk_elements() const noexcept;
  [[nodiscard]] std::uint64_t chunk_bytes() const noexcept { return chunk_elements() * element.size; }
  [[nodiscard]] std::uint64_t rows_per_chunk() const noexcept { return chunk_shape.empty() ? 1 : chunk_shape.front(); }
  /// Chunks along each axis, the last of an axis possibly partial.
  [[nodiscard]] std::vector<std::uint64_t> grid() const;
  [[nodiscard]] std::uint64_t chunk_count() const;
  /// "(3, 0, 0)": the chunk's place in the grid.
  [[nodiscard]] std::string chunk_name(std::uint64_t index) const;
  /// Entry of a chunk of chunked or contiguous storage; index < chunk_count().
  [[nodiscard]] ChunkEntry chunk(std::uint64_t index) const;

  friend bool operator==(const DatasetLayout&, const DatasetLayout&) = default;
};

/// Gives contiguous storage its chunk shape: as many whole rows as fit into 256 KiB, at least one.
void set_contiguous_chunks(DatasetLayout& layout);

/// Holds a layout against the file it claims to describe: every chunk inside the file, none over another, unfiltered
/// ones of the right size, sizes that multiply without overflow. Errors: corrupt, naming dataset and chunk.
[[nodiscard]] base::Result<void> validate_layout(const DatasetLayout& layout, std::uint64_t file_bytes);

/// As bytes for the cache and between processes (little-endian, no checksum of its own).
[[nodiscard]] std::string encode_layout(const DatasetLayout& layout);
/// Errors: corrupt (cut off, impossible sizes, bytes left over). The result still needs validate_layout.
[[nodiscard]] base::Result<DatasetLayout> decode_layout(std::string_view bytes);

}  // namespace ridgeline::loader

template <>
struct ridgeline::base::EnumNames<ridgeline::loader::Storage> {
  using S = loader::Storage;
  static constexpr std::array names{std::pair{S::chunked, "chunked"}, std::pair{S::contiguous, "contiguous"},
                                    std::pair{S::compact, "compact"}, std::pair{S::library, "library"}};
};

template <>
struct ridgeline::base::EnumNames<ridgeline::loader::Filter> {
  using F = loader::Filter;
  static constexpr std::array names{std::pair{F::deflate, "deflate"}, std::pair{F::shuffle, "shuffle"},
                                    std::pair{F::fletcher32, "fletcher32"}, std::pair{F::lzf, "lzf"}};
};
