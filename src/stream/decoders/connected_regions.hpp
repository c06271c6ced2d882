// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ridgeline::stream {

/// Neighbouring pixels of a row that belong to one region: columns `begin` up to, not with, `end`.
struct PixelRun {
  std::int32_t row = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::uint32_t parent = 0;  ///< a run of the same region above or to the left; itself for the first
};

/// Finds the regions of a map in which pixels are above a threshold and touch, also at corners (as cv2.findContours has
/// them). Runs of pixels are joined by union-find: O(pixels) with a small factor, as most maps are empty. Memory is
/// kept for the next map.
class ConnectedRegions {
 public:
  /// `map` is row-major with `width` * `height` values, `threshold` at least 0. false where it has a NaN; there are no
  /// regions then.
  [[nodiscard]] bool find(std::span<const float> map, std::int32_t width, std::int32_t height, float threshold);

  /// By their first pixel, rows from the top.
  [[nodiscard]] std::size_t size() const noexcept { return starts_.empty() ? 0 : starts_.size() - 1; }
  /// A region's runs by row, then column.
  [[nodiscard]] std::span<const PixelRun> region(std::size_t index) const noexcept {
    return std::span(sorted_).subspan(starts_[index], starts_[index + 1] - starts_[index]);
  }

 private:
  bool find_runs(const float* row, std::int32_t y, std::int32_t width, float threshold);
  void join_rows(std::size_t above, std::size_t below);
  std::uint32_t root(std::uint32_t run) noexcept;
  void sort_by_region();

  std::vector<PixelRun> runs_;
  std::vector<PixelRun> sorted_;
  std::vector<std::uint32_t> region_of_;  ///< by run; of roots at first
  std::vector<std::size_t> starts_;       ///< in sorted_, and its end
};

}  // namespace ridgeline::stream
