// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ridgeline::stream {

/// A binary heap of small numbers with a key each, whose keys can change: O(log n) to set or erase, O(1) for the one
/// with the least key. Keys should differ, so that the order does not depend on history.
template <typename Key>
class IndexedHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// With the least key; the heap must not be empty.
  [[nodiscard]] std::uint32_t top() const noexcept { return heap_.front().id; }
  [[nodiscard]] const Key& top_key() const noexcept { return heap_.front().key; }

  /// Adds it, or gives it another key.
  void set(std::uint32_t id, Key key) {
    if (id >= places_.size()) places_.resize(id + 1, kNowhere);
    if (places_[id] == kNowhere) {
      places_[id] = heap_.size();
      heap_.push_back({id, std::move(key)});
      sift_up(heap_.size() - 1);
      return;
    }
    heap_[places_[id]].key = std::move(key);
    sift_down(sift_up(places_[id]));
  }

  /// Does nothing when it is not there.
  void erase(std::uint32_t id) {
    if (id >= places_.size() || places_[id] == kNowhere) return;
    const std::size_t at = places_[id];
    swap_entries(at, heap_.size() - 1);
    places_[id] = kNowhere;
    heap_.pop_back();
    if (at < heap_.size()) sift_down(sift_up(at));
  }

 private:
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  struct Entry {
    std::uint32_t id;
    Key key;
  };

  void swap_entries(std::size_t a, std::size_t b) {
    if (a == b) return;
    std::swap(heap_[a], heap_[b]);
    places_[heap_[a].id] = a;
    places_[heap_[b].id] = b;
  }
  std::size_t sift_up(std::size_t at) {
    while (at > 0 && heap_[at].key < heap_[(at - 1) / 2].key) {
      swap_entries(at, (at - 1) / 2);
      at = (at - 1) / 2;
    }
    return at;
  }
  void sift_down(std::size_t at) {
    for (;;) {
      std::size_t least = at;
      for (const std::size_t child : {2 * at + 1, 2 * at + 2})
        if (child < heap_.size() && heap_[child].key < heap_[least].key) least = child;
      if (least == at) return;
      swap_entries(at, least);
      at = least;
    }
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> places_;  ///< by id
};

}  // namespace ridgeline::stream
