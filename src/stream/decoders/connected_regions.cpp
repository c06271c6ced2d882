// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/connected_regions.hpp"

#include <algorithm>
#include <bit>

namespace ridgeline::stream {
namespace {

constexpr std::int32_t kBlock = 32;  // pixels looked at at once
constexpr std::int32_t kInfinityBits = 0x7f800000;

std::int32_t bits_of(float value) { return std::bit_cast<std::int32_t>(value); }

}  // namespace

/// Bit patterns of floats compare like integers where one is at least 0, so that a block is one vectorized loop. A NaN
/// is above infinity then, or below zero with its sign.
bool ConnectedRegions::find_runs(const float* row, std::int32_t y, std::int32_t width, float threshold) {
  const std::int32_t limit = bits_of(threshold);
  bool is_inside = false;
  for (std::int32_t start = 0; start < width; start += kBlock) {
    const std::int32_t end = std::min(start + kBlock, width);
    std::int32_t nan = 0;
    std::int32_t any = 0;
    std::int32_t all = -1;
    const auto look = [&](std::int32_t x) {
      const std::int32_t bits = bits_of(row[x]);
      nan |= static_cast<std::int32_t>((bits & 0x7fffffff) > kInfinityBits);
      any |= -static_cast<std::int32_t>(bits > limit);
      all &= -static_cast<std::int32_t>(bits > limit);
    };
    if (end - start == kBlock)
      for (std::int32_t i = 0; i < kBlock; ++i) look(start + i);
    else
      for (std::int32_t x = start; x < end; ++x) look(x);
    if (nan != 0) return false;
    if (is_inside ? all != 0 : any == 0) continue;
    for (std::int32_t x = start; x < end; ++x) {
      if ((bits_of(row[x]) > limit) == is_inside) continue;
      if (is_inside)
        runs_.back().end = x;
      else
        runs_.push_back({y, x, width, static_cast<std::uint32_t>(runs_.size())});
      is_inside = !is_inside;
    }
  }
  return true;
}

std::uint32_t ConnectedRegions::root(std::uint32_t run) noexcept {
  while (runs_[run].parent != run) {
    runs_[run].parent = runs_[runs_[run].parent].parent;
    run = runs_[run].parent;
  }
  return run;
}

/// Joins the runs from `above` up to `below` with those from `below` on, where they touch. The smaller number becomes
/// the root, so that a region's root is its first run.
void ConnectedRegions::join_rows(std::size_t above, std::size_t below) {
  const std::size_t above_end = below;
  while (above < above_end && below < runs_.size()) {
    if (runs_[above].begin <= runs_[below].end && runs_[below].begin <= runs_[above].end) {
      const auto a = root(static_cast<std::uint32_t>(above));
      const auto b = root(static_cast<std::uint32_t>(below));
      runs_[std::max(a, b)].parent = std::min(a, b);
    }
    if (runs_[above].end < runs_[below].end)
      ++above;
    else
      ++below;
  }
}

bool ConnectedRegions::find(std::span<const float> map, std::int32_t width, std::int32_t height, float threshold) {
  runs_.clear();
  starts_.clear();
  sorted_.clear();
  std::size_t above = 0;
  for (std::int32_t y = 0; y < height; ++y) {
    const std::size_t below = runs_.size();
    const auto* row = map.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    if (!find_runs(row, y, width, threshold)) return false;
    join_rows(above, below);
    above = below;
  }
  sort_by_region();
  return true;
}

void ConnectedRegions::sort_by_region() {
  // Roots come before the other runs of their region.
  region_of_.resize(runs_.size());
  std::uint32_t regions = 0;
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    const auto first = root(i);
    region_of_[i] = first == i ? regions++ : region_of_[first];
  }
  starts_.assign(regions + 1U, 0);
  for (const auto region : region_of_) ++starts_[region + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  sorted_.resize(runs_.size());
  auto place = starts_;
  for (std::size_t i = 0; i < runs_.size(); ++i) sorted_[place[region_of_[i]]++] = runs_[i];
}

}  // namespace ridgeline::stream
