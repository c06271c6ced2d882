// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::loader {

/// A chunk after its filters were undone.
class DecodedChunk {
 public:
  explicit DecodedChunk(std::size_t size)
      : bytes_(new std::byte[size]), size_(size) {}  // not zeroed: all is overwritten
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};
using ChunkPointer = std::shared_ptr<const DecodedChunk>;

/// Decoded chunks shared by all workers, within a memory budget. The order of samples is known in advance, so the chunk
/// whose next use lies furthest ahead is given up first (Belady's rule, which no other order of eviction beats). A
/// chunk wanted by two threads at once is made once. Thread-safe. Memory: the budget plus one chunk a thread.
class ChunkCache {
 public:
  using Make = std::function<base::Result<ChunkPointer>()>;
  /// `largest_chunk` bytes decides into how many independently locked parts the cache is cut.
  ChunkCache(std::uint64_t budget_bytes, std::uint64_t largest_chunk);

  struct Found {
    ChunkPointer chunk;  ///< empty only where get() was not to wait
    bool hit = false;
  };
  /// The chunk of `key`, made by `make` when it is not there. `next_use`: position in the order of samples at which it
  /// is wanted again, kNever when it is not. Without `may_wait`, nothing is found while another thread makes it.
  [[nodiscard]] base::Result<Found> get(std::uint64_t key, std::uint64_t next_use, const Make& make,
                                        bool may_wait = true);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  /// Only before the first get().
  void set_budget(std::uint64_t bytes) noexcept { budget_ = bytes; }
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

 private:
  struct Entry {
    ChunkPointer chunk;  ///< empty while it is being made
    bool failed = false;
    std::uint64_t next_use = 0;
  };
  struct Part {
    std::mutex mutex;
    std::condition_variable made;
    std::unordered_map<std::uint64_t, std::shared_ptr<Entry>> entries;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_next_use;  ///< (next use, key) of finished entries
  };
  void shrink(Part& part);  ///< part.mutex is held

  std::uint64_t budget_;
  std::atomic<std::uint64_t> bytes_{0};
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace ridgeline::loader
