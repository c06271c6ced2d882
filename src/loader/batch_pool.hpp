// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "loader/batch.hpp"

namespace ridgeline::loader {

/// The loader's fixed set of batch buffers and their states; internal to the loader. Lives as long as the loader or any
/// lent batch.
class BatchPool {
 public:
  enum class State { free, planning, filling, ready, held };
  struct Slot {
    std::vector<std::byte*> buffers;  ///< one a dataset
    State state = State::free;
    std::uint64_t batch = 0;
    std::uint64_t samples = 0;
    std::vector<std::uint32_t> plan;  ///< places in the batch, sorted by sample
    std::size_t pieces = 0;
    std::size_t next_piece = 0;  ///< first piece that nobody took
    std::atomic<std::size_t> pieces_left{0};
    std::optional<base::Error> error;  ///< of the lowest piece that failed
    std::size_t error_piece = 0;
  };

  [[nodiscard]] static base::Result<std::shared_ptr<BatchPool>> make(std::size_t slots,
                                                                     std::vector<std::size_t> buffer_bytes,
                                                                     std::vector<std::uint64_t> row_bytes,
                                                                     std::shared_ptr<BatchAllocator> allocator);
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;
  ~BatchPool();

  void give_back(std::size_t slot);

  std::mutex mutex;               ///< guards all states and, in the loader, the epoch's
  std::condition_variable work;   ///< a slot became free, pieces appeared, or stop
  std::condition_variable ready;  ///< a batch is complete, or the workers are idle
  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<std::uint64_t> row_bytes;
  std::size_t held = 0;

 private:
  BatchPool() = default;
  std::vector<std::size_t> buffer_bytes_;
  std::shared_ptr<BatchAllocator> allocator_;
};

}  // namespace ridgeline::loader
