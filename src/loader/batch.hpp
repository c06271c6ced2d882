// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.hpp"

namespace ridgeline::loader {

/// Where batches are assembled: plain memory here, pinned memory by whoever has a GPU. Called from the thread that
/// opens the loader; `release` from any thread.
class BatchAllocator {
 public:
  virtual ~BatchAllocator() = default;
  /// `bytes` > 0, at least 64-byte aligned. Errors: out_of_memory.
  [[nodiscard]] virtual base::Result<std::byte*> allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory, std::size_t bytes) noexcept = 0;
};

/// Page-aligned ordinary memory.
class HostAllocator final : public BatchAllocator {
 public:
  [[nodiscard]] base::Result<std::byte*> allocate(std::size_t bytes) override;
  void release(std::byte* memory, std::size_t bytes) noexcept override;
};

class BatchPool;

/// One batch, lent: its buffers go back to the loader when it is destroyed. Movable; may outlive its loader and be
/// destroyed in any thread.
class Batch {
 public:
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;
  ~Batch();

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }  ///< from 0 within its epoch
  [[nodiscard]] std::uint64_t samples() const noexcept {
    return samples_;
  }  ///< the last one of an epoch may hold fewer
  /// samples() rows of dataset `dataset`, in the order of the options, rows one after another in the epoch's order.
  [[nodiscard]] std::span<std::byte> data(std::size_t dataset) const;

 private:
  friend class Loader;
  Batch(std::shared_ptr<BatchPool> pool, std::size_t slot, std::uint64_t number, std::uint64_t samples) noexcept;
  std::shared_ptr<BatchPool> pool_;
  std::size_t slot_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace ridgeline::loader
