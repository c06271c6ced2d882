// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "loader/chunk_index.hpp"
#include "loader/dataset_layout.hpp"
#include "loader/object_header.hpp"

namespace ridgeline::loader {

/// The chunks of a dataset's present grid, filled in as an index lists them.
class ChunkTable {
 public:
  ChunkTable(const DatasetLayout& layout, const HeaderPlace& place, std::uint64_t file_bytes)
      : layout_(layout),
        base_(place.base),
        file_bytes_(file_bytes),
        grid_(layout.grid()),
        entries_(static_cast<std::size_t>(layout.chunk_count())) {}

  /// Grid place of a chunk `steps` chunks along each axis. Errors: corrupt (outside the grid).
  [[nodiscard]] base::Result<std::uint64_t> place_of(std::span<const std::uint64_t> steps) const;
  /// Enters a chunk; an address of kMissing is none. Errors: corrupt (beyond the file).
  [[nodiscard]] base::Result<void> put(std::uint64_t place, std::uint64_t address, std::uint64_t bytes,
                                       std::uint32_t mask);
  /// As put, for indexes sorted by place: each must lie behind the one before. Errors: corrupt.
  [[nodiscard]] base::Result<void> put_next(std::uint64_t place, std::uint64_t address, std::uint64_t bytes,
                                            std::uint32_t mask);

  [[nodiscard]] const DatasetLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t axes() const noexcept { return grid_.size(); }
  [[nodiscard]] std::vector<ChunkEntry> take() && { return std::move(entries_); }

 private:
  const DatasetLayout& layout_;
  std::uint64_t base_;
  std::uint64_t file_bytes_;
  std::vector<std::uint64_t> grid_;
  std::vector<ChunkEntry> entries_;
  std::uint64_t next_allowed_ = 0;
};

/// How the arrays of the newer format number chunks: by the grid of the greatest extent that the dataset may grow to,
/// the axis without a limit first.
class ArrayOrder {
 public:
  /// `max_shape` as in HeaderPlace. Errors: corrupt (less than the shape), unsupported (numbers beyond 2^62, more than
  /// one axis without a limit).
  [[nodiscard]] static base::Result<ArrayOrder> make(const DatasetLayout& layout,
                                                     std::span<const std::uint64_t> max_shape);
  static constexpr std::uint64_t kOutside = ~std::uint64_t{0};

  /// Grid place of array element `number`; kOutside when the present shape ends before it.
  [[nodiscard]] std::uint64_t place(std::uint64_t number) const noexcept;
  /// Array element of a grid place.
  [[nodiscard]] std::uint64_t number(std::uint64_t place) const noexcept;
  /// One past the element of the grid's last chunk.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Elements of an array of the greatest extent; 0 when an axis has no limit.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

 private:
  struct Axis {
    std::uint64_t stride = 1;       ///< in array elements
    std::uint64_t grid_stride = 1;  ///< in the present grid
    std::uint64_t extent = 0;       ///< of the present grid
  };
  std::vector<Axis> axes_;  ///< in the order of the array
  std::uint64_t end_ = 0;
  std::uint64_t capacity_ = 0;
};

/// An array element as the file writes it: an address and, under filters, the stored bytes and the filter mask.
struct ArrayElement {
  unsigned address_bytes = 8;
  unsigned size_bytes = 0;  ///< 0: no filters, so neither bytes nor mask
  [[nodiscard]] unsigned bytes() const noexcept { return address_bytes + (size_bytes == 0 ? 0 : size_bytes + 4); }
  /// From an array header: its client (0 without filters, 1 with) and its element size. Errors: corrupt.
  [[nodiscard]] static base::Result<ArrayElement> make(std::uint64_t client, std::uint64_t bytes,
                                                       unsigned address_bytes);
};

/// Enters `count` elements, the first being number `first`. Errors: corrupt.
[[nodiscard]] base::Result<void> put_elements(FieldReader& in, const ArrayElement& element, std::uint64_t first,
                                              std::uint64_t count, const ArrayOrder& order, ChunkTable& table);

/// Bit `number` of a bitmap, the highest of each byte first; clear beyond its end.
[[nodiscard]] bool bit_of(std::span<const std::byte> bitmap, std::uint64_t number) noexcept;

/// "chunk (64, 0)": that of array element `number`, for messages; "element 64" outside the present shape.
[[nodiscard]] std::string element_name(std::uint64_t number, const ArrayOrder& order, const ChunkTable& table);

}  // namespace ridgeline::loader
