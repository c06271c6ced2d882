// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "loader/batch.hpp"
#include "loader/chunk_reader.hpp"
#include "loader/dataset_layout.hpp"
#include "loader/layout_reader.hpp"
#include "loader/sampler.hpp"

namespace ridgeline::loader {

struct LoaderOptions {
  std::vector<std::string> datasets;  ///< read together as one sample, say {"x", "y"}; equal numbers of rows
  std::uint64_t batch_size = 256;     ///< samples; at least 1
  bool drop_last = false;             ///< leave out an incomplete last batch
  unsigned workers = 0;               ///< threads; 0: the caller's thread reads inside next()
  unsigned prefetch_batches = 0;      ///< being filled or ready, ahead of the caller; 0: two pieces of work a worker
  unsigned held_batches = 2;          ///< that the caller may hold at once; at least 1
  SamplerOptions sampler;
  std::uint64_t cache_bytes = std::uint64_t{1} << 30U;  ///< decoded chunks kept; 0 keeps none
  LayoutCache layouts = LayoutCache::of_user();
  bool signed_integers = false;  ///< deliver unsigned integers of 16 bits and more in signed form (signed_form.hpp)
};

/// What one worker did since the loader was opened.
struct WorkerStatistics {
  ReadStatistics read;
  std::uint64_t samples = 0;
  double busy_seconds = 0;
  double wait_seconds = 0;  ///< for a free buffer (the consumer is slower: back-pressure) or for the next epoch
};

/// What the consumer saw.
struct LoaderStatistics {
  std::vector<WorkerStatistics> workers;  ///< with 0 workers: one entry, the caller itself
  WorkerStatistics total;
  std::uint64_t batches = 0;
  double consumer_wait_seconds = 0;         ///< inside next(), until the batch was complete
  std::uint64_t cached_bytes = 0;           ///< decoded chunks held now
  bool tells_cold_reads = true;             ///< false: the file system does not say which reads were cold
  std::optional<double> resident_at_start;  ///< share of the file in the page cache when this epoch began, if known
};

/// Batches of samples from one HDF5 file, read by several threads without the library's lock, delivered in order.
/// open, start_epoch, next until it gives nothing, start_epoch ... Memory: batch buffers ((prefetch + held) * batch
/// bytes), cache_bytes, small datasets (labels) whole, one chunk a worker, 12 bytes a sample for the order. All calls
/// from one thread; batches may be destroyed in any. A file changed underneath gives errors, never a crash.
class Loader {
 public:
  /// Errors: not_found, invalid_argument (options, lengths that differ, a scalar), corrupt, unsupported, out_of_memory.
  [[nodiscard]] static base::Result<std::unique_ptr<Loader>> open(const std::filesystem::path& path,
                                                                  LoaderOptions options,
                                                                  std::shared_ptr<BatchAllocator> allocator);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader();

  /// Begins epoch `number`; what is left of another one is abandoned. Errors: cancelled after stop().
  [[nodiscard]] base::Result<void> start_epoch(std::uint64_t number);
  /// The next batch; nothing when the epoch is over. Waits for it. Errors: of reading, at the batch they hit (earlier
  /// ones are delivered first; after one the epoch is over); unavailable when held_batches are held already; cancelled
  /// after stop().
  [[nodiscard]] base::Result<std::optional<Batch>> next();
  /// Ends all workers, within the time of one piece of work; may be called at any moment and again.
  void stop();

  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept;
  [[nodiscard]] std::uint64_t batches_per_epoch() const noexcept;
  [[nodiscard]] std::uint64_t prefetch_batches() const noexcept;
  [[nodiscard]] const DatasetLayout& layout(std::size_t dataset) const;
  /// Type of the elements in batches, in the host's byte order; the layout has the stored one.
  [[nodiscard]] ElementType element(std::size_t dataset) const;
  /// One line for each dataset that the library must read, or whose chunks it had to find, with the reason; that lies
  /// in another file; or whose values are not all there.
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] LoaderStatistics statistics() const;

 private:
  class Engine;
  explicit Loader(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace ridgeline::loader
