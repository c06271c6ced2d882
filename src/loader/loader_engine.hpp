// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "loader/batch_pool.hpp"
#include "loader/chunk_cache.hpp"
#include "loader/data_file.hpp"
#include "loader/dataset_reader.hpp"
#include "loader/loader.hpp"

namespace ridgeline::loader {

/// The loader's workings. A batch is planned by the first worker that finds a free slot (its samples sorted by place in
/// the file), then cut into pieces that any worker takes, oldest batch first: one slow batch is shared by all workers,
/// and few batches ahead keep all of them busy. Slots are given to batches in order, so a batch that the consumer waits
/// for has one.
class Loader::Engine {
 public:
  Engine(LoaderOptions options, DataFile file) : options_(std::move(options)), file_(std::move(file)) {}
  ~Engine() { stop(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] base::Result<void> open(std::shared_ptr<BatchAllocator> allocator);
  [[nodiscard]] base::Result<void> start_epoch(std::uint64_t number);
  [[nodiscard]] base::Result<std::optional<Batch>> next();
  void stop();

  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept { return sampler_->size(); }
  [[nodiscard]] std::uint64_t batches_per_epoch() const noexcept;
  [[nodiscard]] std::uint64_t prefetch_batches() const noexcept { return prefetch_; }
  [[nodiscard]] const std::vector<std::unique_ptr<DatasetReader>>& readers() const noexcept { return readers_; }
  [[nodiscard]] ElementType element(std::size_t dataset) const;
  [[nodiscard]] LoaderStatistics statistics() const;

 private:
  struct Piece {
    BatchPool::Slot* slot = nullptr;
    std::size_t number = 0;
  };
  struct alignas(128) Worker {  // two cache lines are fetched together: no neighbour shares one
    std::thread thread;
    ReadScratch scratch;
    std::vector<RowRequest> requests;
    std::vector<std::byte> stored;  ///< rows whose elements are to be converted
    WorkerStatistics running;       ///< the worker's own
    WorkerStatistics reported;      ///< copied under the pool's mutex
  };

  [[nodiscard]] base::Result<void> open_datasets();
  void make_row_caches();
  [[nodiscard]] base::Result<void> make_pool(std::shared_ptr<BatchAllocator> allocator);
  [[nodiscard]] std::optional<double> resident_share_of_data() const;
  void compute_next_uses();
  void run(Worker& worker);
  /// A free slot for the next batch of the epoch, or nullptr. The mutex is held.
  [[nodiscard]] BatchPool::Slot* claim_batch();
  [[nodiscard]] Piece claim_piece();
  void plan(BatchPool::Slot& slot) const;
  void fill(const Piece& piece, Worker& worker);
  [[nodiscard]] base::Result<void> read_piece(const Piece& piece, Worker& worker);
  /// The worker's stored rows, those of places [first, last) in the plan, to the batch.
  [[nodiscard]] base::Result<void> convert(const BatchPool::Slot& slot, std::size_t dataset, std::size_t first,
                                           std::size_t last, Worker& worker) const;
  [[nodiscard]] base::Result<std::optional<Batch>> next_in_this_thread(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] base::Result<std::optional<Batch>> deliver(std::size_t slot);

  LoaderOptions options_;
  DataFile file_;
  std::unique_ptr<ChunkCache> cache_;
  std::vector<std::unique_ptr<DatasetReader>> readers_;
  std::vector<std::unique_ptr<RowCache>> row_caches_;  ///< for each dataset, nullptr where it is not used
  std::optional<Sampler> sampler_;
  std::shared_ptr<BatchPool> pool_;
  std::uint64_t prefetch_ = 0;
  std::size_t piece_samples_ = 1;
  bool keeps_all_ = false;  ///< all chunks fit decoded into the memory for them
  std::vector<std::unique_ptr<Worker>> workers_;

  // Of the epoch; written by start_epoch while no worker is busy, guarded by the pool's mutex otherwise.
  std::vector<std::uint64_t> order_;
  std::vector<std::vector<std::uint32_t>>
      next_uses_;                                   ///< for each dataset, empty when its chunks all fit into the cache
  std::vector<std::vector<std::uint32_t>> places_;  ///< for each dataset with a row cache: the place of each row
  std::atomic<std::uint64_t> delivered_places_{0};  ///< all before were delivered
  std::uint64_t epoch_base_ = 0;                    ///< samples of all epochs before: positions only grow
  std::uint64_t next_batch_ = 0;                    ///< to be claimed
  std::uint64_t next_delivery_ = 0;
  std::uint64_t batches_ = 0;
  std::size_t busy_ = 0;  ///< workers planning or filling
  std::atomic<bool> stopping_{false};
  std::uint64_t delivered_ = 0;
  double consumer_wait_seconds_ = 0;
  std::optional<double> resident_at_start_;
};

}  // namespace ridgeline::loader
