// SPDX-License-Identifier: Apache-2.0
#include "loader/batch.hpp"

#include <cstdlib>
#include <utility>

#include "loader/batch_pool.hpp"

namespace ridgeline::loader {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::byte*> HostAllocator::allocate(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  auto* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (memory == nullptr) return fail(ErrorCode::out_of_memory, "no memory for a batch buffer of {} bytes", bytes);
  return static_cast<std::byte*>(memory);
}

void HostAllocator::release(std::byte* memory, std::size_t) noexcept { std::free(memory); }

Batch::Batch(std::shared_ptr<BatchPool> pool, std::size_t slot, std::uint64_t number, std::uint64_t samples) noexcept
    : pool_(std::move(pool)), slot_(slot), number_(number), samples_(samples) {}

Batch::Batch(Batch&& other) noexcept = default;

Batch& Batch::operator=(Batch&& other) noexcept {
  if (pool_) pool_->give_back(slot_);
  pool_ = std::move(other.pool_);
  slot_ = other.slot_;
  number_ = other.number_;
  samples_ = other.samples_;
  return *this;
}

Batch::~Batch() {
  if (pool_) pool_->give_back(slot_);
}

std::span<std::byte> Batch::data(std::size_t dataset) const {
  return {pool_->slots[slot_]->buffers[dataset], static_cast<std::size_t>(samples_ * pool_->row_bytes[dataset])};
}

Result<std::shared_ptr<BatchPool>> BatchPool::make(std::size_t slots, std::vector<std::size_t> buffer_bytes,
                                                   std::vector<std::uint64_t> row_bytes,
                                                   std::shared_ptr<BatchAllocator> allocator) {
  std::shared_ptr<BatchPool> pool(new BatchPool());
  pool->row_bytes = std::move(row_bytes);
  pool->buffer_bytes_ = std::move(buffer_bytes);
  pool->allocator_ = std::move(allocator);
  for (std::size_t i = 0; i < slots; ++i) {
    pool->slots.push_back(std::make_unique<Slot>());
    for (const auto bytes : pool->buffer_bytes_) {
      RL_TRY_ASSIGN(auto* memory, pool->allocator_->allocate(bytes));
      pool->slots.back()->buffers.push_back(memory);
    }
  }
  return pool;
}

BatchPool::~BatchPool() {
  for (const auto& slot : slots)
    for (std::size_t i = 0; i < slot->buffers.size(); ++i) allocator_->release(slot->buffers[i], buffer_bytes_[i]);
}

void BatchPool::give_back(std::size_t slot) {
  {
    const std::lock_guard lock(mutex);
    slots[slot]->state = State::free;
    --held;
  }
  work.notify_one();
}

}  // namespace ridgeline::loader
