// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_cache.hpp"

#include <algorithm>

namespace ridgeline::loader {

ChunkCache::ChunkCache(std::uint64_t budget_bytes, std::uint64_t largest_chunk) : budget_(budget_bytes) {
  // A part that holds few chunks has little to choose from when it must give one up.
  constexpr std::uint64_t kChunksPerPart = 32;
  constexpr std::uint64_t kMostParts = 64;
  const auto parts =
      std::clamp<std::uint64_t>(budget_ / std::max<std::uint64_t>(largest_chunk, 1) / kChunksPerPart, 1, kMostParts);
  for (std::uint64_t i = 0; i < parts; ++i) parts_.push_back(std::make_unique<Part>());
}

base::Result<ChunkCache::Found> ChunkCache::get(std::uint64_t key, std::uint64_t next_use, const Make& make,
                                                bool may_wait) {
  auto& part = *parts_[(key * 0x9E3779B97F4A7C15ULL >> 32U) % parts_.size()];
  std::unique_lock lock(part.mutex);
  for (;;) {
    const auto found = part.entries.find(key);
    if (found == part.entries.end()) break;
    const auto entry = found->second;  // survives eviction while we wait
    if (!may_wait && !entry->chunk && !entry->failed) return Found{};
    part.made.wait(lock, [&] { return entry->chunk || entry->failed; });
    if (entry->failed) continue;
    if (const auto still = part.entries.find(key); still != part.entries.end() && still->second == entry) {
      part.by_next_use.erase({entry->next_use, key});
      entry->next_use = next_use;
      part.by_next_use.emplace(next_use, key);
    }
    return Found{entry->chunk, true};
  }
  const auto entry = std::make_shared<Entry>();
  entry->next_use = next_use;
  part.entries.emplace(key, entry);
  lock.unlock();
  auto made = make();
  lock.lock();
  if (!made) {
    entry->failed = true;
    part.entries.erase(key);
    lock.unlock();
    part.made.notify_all();
    return tl::unexpected(std::move(made).error());
  }
  entry->chunk = *made;
  part.by_next_use.emplace(next_use, key);
  bytes_.fetch_add((*made)->bytes().size(), std::memory_order_relaxed);
  shrink(part);
  lock.unlock();
  part.made.notify_all();
  return Found{std::move(*made), false};
}

void ChunkCache::shrink(Part& part) {
  while (bytes_.load(std::memory_order_relaxed) > budget_ && !part.by_next_use.empty()) {
    const auto furthest = std::prev(part.by_next_use.end());
    const auto found = part.entries.find(furthest->second);
    bytes_.fetch_sub(found->second->chunk->bytes().size(), std::memory_order_relaxed);
    part.entries.erase(found);
    part.by_next_use.erase(furthest);
  }
}

}  // namespace ridgeline::loader
