// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "stream/image.hpp"

namespace ridgeline::stream {

/// Pictures whose memory is used again once nobody holds them: a frame of 1080p is 6 MB, and fresh pages cost more than
/// copying into it. Thread-safe; may be gone before its pictures are.
class ImagePool {
 public:
  [[nodiscard]] std::shared_ptr<Image> take() {
    std::unique_ptr<Image> image;
    {
      const std::lock_guard lock(kept_->mutex);
      if (!kept_->images.empty()) {
        image = std::move(kept_->images.back());
        kept_->images.pop_back();
      }
    }
    if (image == nullptr) {
      image = std::make_unique<Image>();
      image->bytes = ImageBytes(memory());
    }
    return {image.release(), [kept = kept_](Image* done) {
              std::unique_ptr<Image> back(done);
              const std::lock_guard lock(kept->mutex);
              if (kept->images.size() < kMostKept) kept->images.push_back(std::move(back));
            }};
  }

  /// Where pictures made from now on have their bytes; nullptr: on the heap.
  void set_memory(std::shared_ptr<ImageMemory> memory) {
    const std::lock_guard lock(kept_->mutex);
    memory_ = std::move(memory);
    kept_->images.clear();
  }
  [[nodiscard]] std::shared_ptr<ImageMemory> memory() const {
    const std::lock_guard lock(kept_->mutex);
    return memory_;
  }

 private:
  static constexpr std::size_t kMostKept = 64;
  struct Kept {
    std::mutex mutex;
    std::vector<std::unique_ptr<Image>> images;
  };
  std::shared_ptr<ImageMemory> memory_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace ridgeline::stream
