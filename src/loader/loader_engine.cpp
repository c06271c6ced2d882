// SPDX-License-Identifier: Apache-2.0
#include "loader/loader_engine.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "loader/page_cache.hpp"
#include "loader/signed_form.hpp"
#include "loader/stopwatch.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::uint64_t kPieceBytes = 1U << 20U;
constexpr std::uint64_t kPieceSamples = 1024;
constexpr std::uint64_t kPieceSamplesToDecode =
    128;                                            // the first time, a piece may cost as many chunks as it has samples
constexpr std::uint64_t kPieceSamplesNotKept = 32;  // every time: small pieces leave no worker idle at an epoch's end
constexpr std::uint32_t kNoUse = std::numeric_limits<std::uint32_t>::max();

/// Where to begin with the requests of a batch's piece: the first request of a chunk, another for each batch.
std::size_t first_of_chunk(std::span<const RowRequest> requests, std::uint64_t batch, const DatasetLayout& layout) {
  const auto rows = layout.rows_per_chunk();
  auto start =
      static_cast<std::size_t>((batch * 0x9E3779B97F4A7C15ULL >> 32U) % std::max<std::size_t>(requests.size(), 1));
  while (start > 0 && requests[start].row / rows == requests[start - 1].row / rows) --start;
  return start;
}

}  // namespace

Result<void> Loader::Engine::open(std::shared_ptr<BatchAllocator> allocator) {
  constexpr unsigned kMostWorkers = 1024;
  if (options_.datasets.empty())
    return fail(ErrorCode::invalid_argument, "no dataset to read").hint("name at least one");
  if (options_.batch_size == 0 || options_.batch_size > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::invalid_argument, "batch size {}: expected 1 to 2^32 - 1", options_.batch_size);
  if (options_.workers > kMostWorkers || options_.held_batches == 0)
    return fail(ErrorCode::invalid_argument, "{} workers and {} held batches: expected at most {} and at least 1",
                options_.workers, options_.held_batches, kMostWorkers);
  RL_TRY(open_datasets());
  RL_TRY(make_pool(std::move(allocator)));
  const unsigned count = std::max(options_.workers, 1U);
  for (unsigned i = 0; i < count; ++i) workers_.push_back(std::make_unique<Worker>());
  if (options_.workers == 0) return {};
  try {
    for (auto& worker : workers_) worker->thread = std::thread([this, &worker] { run(*worker); });
  } catch (const std::system_error& error) {
    stop();
    return fail(ErrorCode::unavailable, "cannot start {} threads: {}", count, error.what());
  }
  return {};
}

Result<void> Loader::Engine::open_datasets() {
  std::vector<DatasetLayout> layouts;
  for (const auto& name : options_.datasets) {
    RL_TRY_ASSIGN(auto layout, read_layout(file_, name, options_.layouts));
    if (layout.shape.empty())
      return fail(ErrorCode::invalid_argument, "{}: dataset \"{}\" is a single value: expected an axis of samples",
                  file_.path().string(), name);
    layouts.push_back(std::move(layout));
  }
  std::uint64_t largest = 1;
  std::uint64_t rows_per_chunk = 1;
  for (const auto& layout : layouts) {
    if (layout.rows() != layouts.front().rows())
      return fail(ErrorCode::invalid_argument, "{}: \"{}\" has {} samples, \"{}\" has {}: expected equal numbers",
                  file_.path().string(), layouts.front().dataset, layouts.front().rows(), layout.dataset,
                  layout.rows());
    if (layout.storage != Storage::chunked) continue;
    if (layout.chunk_bytes() > largest) rows_per_chunk = layout.rows_per_chunk();
    largest = std::max(largest, layout.chunk_bytes());
  }
  cache_ = std::make_unique<ChunkCache>(options_.cache_bytes, largest);
  RL_TRY_ASSIGN(auto sampler, Sampler::make(layouts.front().rows(), rows_per_chunk, options_.sampler));
  sampler_.emplace(std::move(sampler));
  for (auto& layout : layouts) {
    RL_TRY_ASSIGN(auto reader,
                  DatasetReader::open(file_, std::move(layout), cache_.get(), static_cast<unsigned>(readers_.size())));
    if (reader->is_small()) reader->keep_all_rows();
    readers_.push_back(std::move(reader));
  }
  make_row_caches();
  return {};
}

/// Where the decoded chunks of all datasets do not fit, three quarters of the memory go to single rows.
void Loader::Engine::make_row_caches() {
  row_caches_.resize(readers_.size());
  std::uint64_t wanted = 0;
  std::uint64_t number = 0;
  for (const auto& reader : readers_) {
    if (reader->uses_cache()) wanted += reader->layout().rows() * reader->layout().row_bytes();
    number += reader->can_cache_rows() ? 1 : 0;
  }
  keeps_all_ = wanted <= options_.cache_bytes;
  if (keeps_all_ || number == 0 || sampler_->size() >= kNoUse) return;
  const auto share = options_.cache_bytes / 4 * 3 / number;
  for (std::size_t i = 0; i < readers_.size(); ++i)
    if (readers_[i]->can_cache_rows())
      row_caches_[i] = std::make_unique<RowCache>(share, static_cast<std::size_t>(readers_[i]->layout().row_bytes()));
  cache_->set_budget(options_.cache_bytes / 4);
}

Result<void> Loader::Engine::make_pool(std::shared_ptr<BatchAllocator> allocator) {
  std::vector<std::size_t> buffers;
  std::vector<std::uint64_t> rows;
  std::uint64_t sample_bytes = 1;
  bool decodes = false;
  for (const auto& reader : readers_) {
    rows.push_back(reader->layout().row_elements() * element(rows.size()).size);
    buffers.push_back(std::max<std::size_t>(64, rows.back() * options_.batch_size));
    sample_bytes += rows.back();
    decodes = decodes || !reader->layout().filters.empty();
  }
  const auto most = !decodes ? kPieceSamples : keeps_all_ ? kPieceSamplesToDecode : kPieceSamplesNotKept;
  piece_samples_ = static_cast<std::size_t>(std::clamp<std::uint64_t>(kPieceBytes / sample_bytes, 1, most));
  const auto pieces = (options_.batch_size + piece_samples_ - 1) / piece_samples_;
  piece_samples_ = static_cast<std::size_t>((options_.batch_size + pieces - 1) / pieces);  // alike, none of them a rest
  prefetch_ = options_.prefetch_batches;
  if (prefetch_ == 0) prefetch_ = std::max<std::uint64_t>(2, (2 * options_.workers + pieces - 1) / pieces);
  if (options_.workers == 0) prefetch_ = 0;
  RL_TRY_ASSIGN(pool_, BatchPool::make(static_cast<std::size_t>(prefetch_) + options_.held_batches, std::move(buffers),
                                       std::move(rows), std::move(allocator)));
  for (auto& slot : pool_->slots) slot->plan.reserve(static_cast<std::size_t>(options_.batch_size));
  return {};
}

std::uint64_t Loader::Engine::batches_per_epoch() const noexcept {
  const auto samples = sampler_->size();
  return samples / options_.batch_size + (!options_.drop_last && samples % options_.batch_size != 0 ? 1 : 0);
}

/// Over all files that are read, by their bytes; unknown where the library reads files that we do not.
std::optional<double> Loader::Engine::resident_share_of_data() const {
  std::map<std::filesystem::path, const DataFile*> files;
  for (const auto& reader : readers_) {
    if (reader->layout().storage == Storage::library && reader->layout().needs_other_files) return std::nullopt;
    files[reader->file().path()] = &reader->file();
  }
  double bytes = 0;
  double resident_bytes = 0;
  for (const auto& [path, file] : files) {
    const auto share = resident_share(*file);
    if (!share) return std::nullopt;
    bytes += static_cast<double>(file->size());
    resident_bytes += *share * static_cast<double>(file->size());
  }
  if (bytes == 0) return std::nullopt;
  return resident_bytes / bytes;
}

Result<void> Loader::Engine::start_epoch(std::uint64_t number) {
  auto order = sampler_->epoch(number);
  const auto resident = resident_share_of_data();
  std::unique_lock lock(pool_->mutex);
  resident_at_start_ = resident;
  batches_ = next_batch_ = 0;  // nothing more is claimed
  for (auto& slot : pool_->slots) slot->next_piece = slot->pieces;
  pool_->ready.wait(lock, [&] { return busy_ == 0; });
  if (stopping_) return fail(ErrorCode::cancelled, "the loader was stopped");
  for (auto& slot : pool_->slots)
    if (slot->state != BatchPool::State::held) slot->state = BatchPool::State::free;
  epoch_base_ += order_.size();
  order_ = std::move(order);
  compute_next_uses();
  next_delivery_ = 0;
  batches_ = batches_per_epoch();
  lock.unlock();
  pool_->work.notify_all();
  return {};
}

/// For every place in the order: the place at which the same chunk row is wanted next. Only for datasets that cannot be
/// kept whole.
void Loader::Engine::compute_next_uses() {
  next_uses_.assign(readers_.size(), {});
  places_.assign(readers_.size(), {});
  delivered_places_ = 0;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    if (!row_caches_[i]) continue;
    row_caches_[i]->clear();
    places_[i].assign(static_cast<std::size_t>(readers_[i]->layout().rows()), RowCachePlan::kNoPlace);
    for (std::size_t place = 0; place < order_.size(); ++place)
      places_[i][static_cast<std::size_t>(order_[place])] = static_cast<std::uint32_t>(place);
  }
  if (order_.size() >= kNoUse) return;  // the cache then gives up chunks in the order of their last use
  std::uint64_t wanted = 0;
  for (const auto& reader : readers_)
    if (reader->uses_cache()) wanted += reader->layout().rows() * reader->layout().row_bytes();
  if (wanted <= options_.cache_bytes) return;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    if (!readers_[i]->uses_cache() || row_caches_[i]) continue;
    const auto rows = readers_[i]->layout().rows_per_chunk();
    std::vector<std::uint32_t> last(static_cast<std::size_t>((readers_[i]->layout().rows() + rows - 1) / rows), kNoUse);
    next_uses_[i].resize(order_.size());
    for (std::size_t place = order_.size(); place-- > 0;) {
      auto& seen = last[static_cast<std::size_t>(order_[place] / rows)];
      next_uses_[i][place] = seen;
      seen = static_cast<std::uint32_t>(place);
    }
  }
}

void Loader::Engine::run(Worker& worker) {
  std::unique_lock lock(pool_->mutex);
  while (!stopping_) {
    if (const auto piece = claim_piece(); piece.slot != nullptr) {
      ++busy_;
      lock.unlock();
      fill(piece, worker);
      lock.lock();
      worker.reported = worker.running;
      --busy_;
      if (piece.slot->pieces_left.fetch_sub(1) == 1) piece.slot->state = BatchPool::State::ready;
      if (piece.slot->state == BatchPool::State::ready || busy_ == 0) pool_->ready.notify_all();
    } else if (auto* slot = claim_batch(); slot != nullptr) {
      ++busy_;
      lock.unlock();
      plan(*slot);
      lock.lock();
      --busy_;
      if (slot->batch < batches_) slot->state = BatchPool::State::filling;
      // No more than there is work for: those woken for nothing would only take the mutex from the others.
      for (std::size_t i = 1; i < std::min(slot->pieces, workers_.size()); ++i) pool_->work.notify_one();
      if (busy_ == 0) pool_->ready.notify_all();
    } else {
      {
        const Stopwatch watch(worker.running.wait_seconds);
        pool_->work.wait(lock);
      }
      worker.reported = worker.running;
    }
  }
}

BatchPool::Slot* Loader::Engine::claim_batch() {
  if (next_batch_ >= batches_) return nullptr;
  for (auto& slot : pool_->slots) {
    if (slot->state != BatchPool::State::free) continue;
    slot->state = BatchPool::State::planning;
    slot->batch = next_batch_++;
    slot->samples = std::min<std::uint64_t>(options_.batch_size, order_.size() - slot->batch * options_.batch_size);
    slot->pieces = (static_cast<std::size_t>(slot->samples) + piece_samples_ - 1) / piece_samples_;
    slot->next_piece = 0;
    slot->pieces_left = slot->pieces;
    slot->error.reset();
    return slot.get();
  }
  return nullptr;
}

Loader::Engine::Piece Loader::Engine::claim_piece() {
  BatchPool::Slot* oldest = nullptr;
  for (auto& slot : pool_->slots)
    if (slot->state == BatchPool::State::filling && slot->next_piece < slot->pieces &&
        (oldest == nullptr || slot->batch < oldest->batch))
      oldest = slot.get();
  return oldest == nullptr ? Piece{} : Piece{oldest, oldest->next_piece++};
}

void Loader::Engine::plan(BatchPool::Slot& slot) const {
  slot.plan.resize(static_cast<std::size_t>(slot.samples));
  std::iota(slot.plan.begin(), slot.plan.end(), 0U);
  const auto* samples = order_.data() + slot.batch * options_.batch_size;
  std::sort(slot.plan.begin(), slot.plan.end(), [&](std::uint32_t a, std::uint32_t b) {
    return samples[a] < samples[b] || (samples[a] == samples[b] && a < b);
  });
}

void Loader::Engine::fill(const Piece& piece, Worker& worker) {
  const Stopwatch watch(worker.running.busy_seconds);
  const auto done = [&]() -> Result<void> {
    try {
      return read_piece(piece, worker);
    } catch (const std::exception& error) {  // no memory for a chunk
      return fail(ErrorCode::out_of_memory, "{}: a worker could not go on: {}", file_.path().string(), error.what());
    }
  }();
  if (done) return;
  const std::lock_guard lock(pool_->mutex);
  auto& slot = *piece.slot;
  if (slot.error && slot.error_piece < piece.number) return;
  slot.error = done.error();
  slot.error_piece = piece.number;
}

Result<void> Loader::Engine::read_piece(const Piece& piece, Worker& worker) {
  const auto& slot = *piece.slot;
  const auto first = piece.number * piece_samples_;
  const auto last = std::min<std::size_t>(first + piece_samples_, static_cast<std::size_t>(slot.samples));
  const auto batch_begin = static_cast<std::size_t>(slot.batch * options_.batch_size);
  for (std::size_t dataset = 0; dataset < readers_.size(); ++dataset) {
    if (stopping_) return fail(ErrorCode::cancelled, "the loader was stopped");
    const auto row_bytes = static_cast<std::size_t>(pool_->row_bytes[dataset]);
    const auto& next_uses = next_uses_[dataset];
    const auto& layout = readers_[dataset]->layout();
    const auto stored_bytes = static_cast<std::size_t>(layout.row_bytes());
    const bool converts = element(dataset).kind != layout.element.kind;
    if (converts) worker.stored.resize((last - first) * stored_bytes);
    worker.requests.clear();
    for (std::size_t i = first; i < last; ++i) {
      const auto place = batch_begin + slot.plan[i];
      // Beyond this epoch the order is not known; without a plan, the less recently used the further away.
      std::uint64_t next_use = ~(epoch_base_ + place);
      if (!next_uses.empty())
        next_use = epoch_base_ + (next_uses[place] == kNoUse ? 2 * order_.size() : next_uses[place]);
      auto* to = converts ? worker.stored.data() + (i - first) * stored_bytes
                          : slot.buffers[dataset] + slot.plan[i] * row_bytes;
      worker.requests.push_back({order_[place], to, next_use});
    }
    const RowCachePlan plan{row_caches_[dataset].get(), &places_[dataset], batch_begin + slot.samples,
                            delivered_places_};
    const auto* row_cache = plan.row_cache != nullptr ? &plan : nullptr;
    // Pieces of neighbouring batches want much the same chunks in the same order; workers that all began with the same
    // ones would soon have none left but those that others are decoding. So every batch begins somewhere else.
    if (readers_[dataset]->shares_chunks()) {
      const auto start = first_of_chunk(worker.requests, slot.batch, layout);
      std::rotate(worker.requests.begin(), worker.requests.begin() + static_cast<std::ptrdiff_t>(start),
                  worker.requests.end());
    }
    RL_TRY(readers_[dataset]->read(worker.requests, worker.scratch, worker.running.read, row_cache));
    if (converts) RL_TRY(convert(slot, dataset, first, last, worker));
  }
  worker.running.samples += last - first;
  return {};
}

Result<void> Loader::Engine::convert(const BatchPool::Slot& slot, std::size_t dataset, std::size_t first,
                                     std::size_t last, Worker& worker) const {
  const Stopwatch watch(worker.running.read.copy_seconds);
  const auto& layout = readers_[dataset]->layout();
  const auto from_bytes = static_cast<std::size_t>(layout.row_bytes());
  const auto to_bytes = static_cast<std::size_t>(pool_->row_bytes[dataset]);
  const std::span<const std::byte> stored(worker.stored);
  for (std::size_t i = first; i < last; ++i) {
    const auto too_large = to_signed_form(layout.element, stored.subspan((i - first) * from_bytes, from_bytes),
                                          {slot.buffers[dataset] + slot.plan[i] * to_bytes, to_bytes});
    if (too_large)
      return fail(ErrorCode::unsupported, "{}: dataset \"{}\": sample {} holds {}, beyond the greatest int64",
                  file_.path().string(), layout.dataset,
                  order_[static_cast<std::size_t>(slot.batch * options_.batch_size) + slot.plan[i]], *too_large)
          .hint("store it as float64 or less");
  }
  return {};
}

Result<std::optional<Batch>> Loader::Engine::next() {
  std::unique_lock lock(pool_->mutex);
  if (stopping_) return fail(ErrorCode::cancelled, "the loader was stopped");
  if (next_delivery_ >= batches_) return std::nullopt;
  if (pool_->held >= options_.held_batches)
    return fail(ErrorCode::unavailable, "{} batches are held", pool_->held)
        .hint("release one before asking for the next, or raise held_batches");
  const Stopwatch watch(consumer_wait_seconds_);
  if (options_.workers == 0) return next_in_this_thread(lock);
  for (;;) {
    for (std::size_t i = 0; i < pool_->slots.size(); ++i)
      if (pool_->slots[i]->state == BatchPool::State::ready && pool_->slots[i]->batch == next_delivery_)
        return deliver(i);
    pool_->ready.wait(lock);
    if (stopping_) return fail(ErrorCode::cancelled, "the loader was stopped");
  }
}

Result<std::optional<Batch>> Loader::Engine::next_in_this_thread(std::unique_lock<std::mutex>& lock) {
  auto* slot = claim_batch();
  if (slot == nullptr) return fail(ErrorCode::internal, "no free batch buffer");
  auto& worker = *workers_.front();
  lock.unlock();
  plan(*slot);
  for (std::size_t piece = 0; piece < slot->pieces && !slot->error; ++piece) fill({slot, piece}, worker);
  lock.lock();
  worker.reported = worker.running;
  slot->state = BatchPool::State::ready;
  for (std::size_t i = 0; i < pool_->slots.size(); ++i)
    if (pool_->slots[i].get() == slot) return deliver(i);
  return fail(ErrorCode::internal, "a batch buffer of another pool");
}

/// Hands a ready slot to the caller, or its error. The mutex is held.
Result<std::optional<Batch>> Loader::Engine::deliver(std::size_t index) {
  auto& slot = *pool_->slots[index];
  if (slot.error) {
    batches_ = next_delivery_;  // the epoch ends here
    slot.state = BatchPool::State::free;
    return tl::unexpected(*slot.error);
  }
  delivered_places_ = ++next_delivery_ * options_.batch_size;
  ++delivered_;
  ++pool_->held;
  slot.state = BatchPool::State::held;
  return std::optional<Batch>(Batch(pool_, index, slot.batch, slot.samples));
}

void Loader::Engine::stop() {
  if (!pool_) return;
  {
    const std::lock_guard lock(pool_->mutex);
    stopping_ = true;
  }
  pool_->work.notify_all();
  pool_->ready.notify_all();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

ElementType Loader::Engine::element(std::size_t dataset) const {
  const auto& stored = readers_[dataset]->layout().element;
  return options_.signed_integers ? signed_form(stored) : stored;
}

LoaderStatistics Loader::Engine::statistics() const {
  const std::lock_guard lock(pool_->mutex);
  LoaderStatistics all;
  for (const auto& worker : workers_) {
    const auto& one = worker->reported;
    all.workers.push_back(one);
    all.total.read += one.read;
    all.total.samples += one.samples;
    all.total.busy_seconds += one.busy_seconds;
    all.total.wait_seconds += one.wait_seconds;
  }
  all.batches = delivered_;
  all.consumer_wait_seconds = consumer_wait_seconds_;
  all.cached_bytes = cache_->bytes();
  for (const auto& row_cache : row_caches_) all.cached_bytes += row_cache ? row_cache->bytes() : 0;
  for (const auto& reader : readers_) all.tells_cold_reads = all.tells_cold_reads && reader->file().tells_cold_reads();
  all.resident_at_start = resident_at_start_;
  return all;
}

}  // namespace ridgeline::loader
