// SPDX-License-Identifier: Apache-2.0
#include "loader/row_cache.hpp"

#include <cstring>
#include <iterator>

namespace ridgeline::loader {
namespace {

constexpr std::size_t kBookkeepingBytes = 160;  // nodes of the map and the set
constexpr std::uint64_t kRowsForParts = 1024;
constexpr std::size_t kParts = 32;

}  // namespace

RowCache::RowCache(std::uint64_t budget_bytes, std::size_t row_bytes) : row_bytes_(row_bytes) {
  const auto rows = budget_bytes / (row_bytes + kBookkeepingBytes);
  const auto parts = rows >= kRowsForParts ? kParts : 1;
  rows_per_part_ = static_cast<std::size_t>(rows / parts);
  for (std::size_t i = 0; i < parts; ++i) {
    parts_.push_back(std::make_unique<Part>());
    parts_.back()->memory.reserve(rows_per_part_ * row_bytes_);  // address space only, until it is written
  }
}

RowCache::Part& RowCache::part(std::uint64_t row) {
  return *parts_[(row * 0x9E3779B97F4A7C15ULL >> 32U) % parts_.size()];
}

void RowCache::forget(Part& part, std::uint64_t row) {
  const auto found = part.rows.find(row);
  part.by_place.erase({found->second.place, row});
  part.free_slots.push_back(found->second.slot);
  part.rows.erase(found);
}

bool RowCache::take(std::uint64_t row, std::byte* to) {
  auto& in = part(row);
  const std::lock_guard lock(in.mutex);
  const auto found = in.rows.find(row);
  if (found == in.rows.end()) return false;
  std::memcpy(to, in.memory.data() + found->second.slot * row_bytes_, row_bytes_);
  forget(in, row);
  return true;
}

void RowCache::offer(std::uint64_t row, std::uint64_t place, std::uint64_t floor, const std::byte* from) {
  auto& in = part(row);
  const std::lock_guard lock(in.mutex);
  if (rows_per_part_ == 0 || in.rows.contains(row)) return;
  if (in.rows.size() == rows_per_part_) {
    const auto& [nearest, missed] = *in.by_place.begin();
    const auto& [furthest, last] = *std::prev(in.by_place.end());
    if (nearest >= floor && furthest <= place) return;
    const auto goes = nearest < floor ? missed : last;  // a copy: forgetting it ends the set's node
    forget(in, goes);
  }
  std::size_t slot = in.memory.size() / row_bytes_;
  if (in.free_slots.empty()) {
    in.memory.insert(in.memory.end(), from, from + row_bytes_);
  } else {
    slot = in.free_slots.back();
    in.free_slots.pop_back();
    std::memcpy(in.memory.data() + slot * row_bytes_, from, row_bytes_);
  }
  in.rows.emplace(row, Kept{slot, place});
  in.by_place.emplace(place, row);
}

void RowCache::clear() {
  for (const auto& part : parts_) {
    const std::lock_guard lock(part->mutex);
    part->rows.clear();
    part->by_place.clear();
    part->free_slots.clear();
    part->memory.clear();
  }
}

std::uint64_t RowCache::bytes() const {
  std::uint64_t rows = 0;
  for (const auto& part : parts_) {
    const std::lock_guard lock(part->mutex);
    rows += part->rows.size();
  }
  return rows * (row_bytes_ + kBookkeepingBytes);
}

}  // namespace ridgeline::loader
