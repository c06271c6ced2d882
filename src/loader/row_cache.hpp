// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ridgeline::loader {

/// Decoded rows put aside for later in the epoch, for datasets too large to be kept decoded. A shuffled order wants the
/// rows of a chunk at places far apart; a whole chunk kept for its next row holds 63 others that are wanted later
/// still. Kept singly, and the one wanted last given up first, the rows at hand are always the next ones: with room for
/// a share f of the dataset a decoded chunk serves about 1 + 2 f (rows - 1) samples instead of one. Thread-safe.
class RowCache {
 public:
  /// Memory: at most `budget_bytes`, bookkeeping included.
  RowCache(std::uint64_t budget_bytes, std::size_t row_bytes);

  /// Copies the row to `to` and forgets it; false when it is not there.
  [[nodiscard]] bool take(std::uint64_t row, std::byte* to);
  /// Keeps a row for place `place` of the order, if there is room or a row wanted later can go. Rows for places before
  /// `floor` have missed their turn and are dropped.
  void offer(std::uint64_t row, std::uint64_t place, std::uint64_t floor, const std::byte* from);
  void clear();
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Kept {
    std::size_t slot = 0;
    std::uint64_t place = 0;
  };
  struct Part {
    std::mutex mutex;
    std::vector<std::byte> memory;  ///< grows up to rows_per_part_ rows
    std::vector<std::size_t> free_slots;
    std::unordered_map<std::uint64_t, Kept> rows;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_place;  ///< (place, row)
  };
  [[nodiscard]] Part& part(std::uint64_t row);
  static void forget(Part& part, std::uint64_t row);

  std::size_t row_bytes_;
  std::size_t rows_per_part_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace ridgeline::loader
