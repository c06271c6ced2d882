// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "stream/image.hpp"

namespace ridgeline::stream {

/// What travels beside a frame's ticket. A slot keeps its place while anybody holds it, so that a worker can fill it
/// while others come and go, even when its frame has been given up meanwhile. For one thread at a time, but for the
/// contents of slots.
class FrameStore {
 public:
  struct Slot {
    std::shared_ptr<const Image> image;
    std::string result;
    std::string error;
    std::uint32_t holders = 0;
  };

  /// Held once.
  [[nodiscard]] std::uint64_t add(std::shared_ptr<const Image> image) {
    if (free_.empty()) {
      slots_.emplace_back();
      free_.push_back(slots_.size() - 1);
    }
    const auto number = free_.back();
    free_.pop_back();
    slots_[number].image = std::move(image);
    slots_[number].holders = 1;
    return number;
  }
  [[nodiscard]] Slot& at(std::uint64_t number) { return slots_[number]; }
  void hold(std::uint64_t number) { ++slots_[number].holders; }
  /// The picture of a frame that only its result is needed of, unless a worker still reads it.
  void drop_image(std::uint64_t number) {
    if (slots_[number].holders == 1) slots_[number].image.reset();
  }
  /// The last one frees it; strings keep their memory.
  void release(std::uint64_t number) {
    auto& slot = slots_[number];
    if (--slot.holders > 0) return;
    slot.image.reset();
    slot.result.clear();
    slot.error.clear();
    free_.push_back(number);
  }

 private:
  std::deque<Slot> slots_;
  std::vector<std::uint64_t> free_;
};

}  // namespace ridgeline::stream
