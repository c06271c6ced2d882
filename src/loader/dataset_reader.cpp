// SPDX-License-Identifier: Apache-2.0
#include "loader/dataset_reader.hpp"

#include <algorithm>
#include <cstring>

#include "loader/stopwatch.hpp"

namespace ridgeline::loader {
namespace {

using base::Result;

/// Below this a row is cheaper to copy from a kept chunk than to ask the kernel for.
constexpr std::uint64_t kSmallRowBytes = 4096;
constexpr std::size_t kMostParts = 64;  // rows in one preadv
constexpr std::uint64_t kKeptBytes = std::uint64_t{16} << 20U;
constexpr std::uint64_t kRowsAtOnce = 4096;  // to be kept; whole chunks

}  // namespace

Result<std::unique_ptr<DatasetReader>> DatasetReader::open(const DataFile& file, DatasetLayout layout,
                                                           ChunkCache* cache, unsigned cache_id) {
  std::unique_ptr<DataFile> linked;
  if (!layout.data_file.empty()) {
    RL_TRY_ASSIGN(auto other, DataFile::open(layout.data_file));
    linked = std::make_unique<DataFile>(std::move(other));
  }
  std::unique_ptr<DatasetReader> reader(new DatasetReader(file, std::move(linked), std::move(layout), cache, cache_id));
  if (reader->layout_.storage == Storage::library) {
    RL_TRY_ASSIGN(auto library, LibraryDataset::open(file.path(), reader->layout_));
    reader->library_.emplace(std::move(library));
  }
  return reader;
}

DatasetReader::DatasetReader(const DataFile& file, std::unique_ptr<DataFile> linked, DatasetLayout layout,
                             ChunkCache* cache, unsigned cache_id)
    : linked_(std::move(linked)),
      file_(linked_ ? *linked_ : file),
      layout_(std::move(layout)),
      chunks_(file_, layout_),
      cache_(cache),
      cache_key_(std::uint64_t{cache_id} << 48U) {
  if (layout_.storage != Storage::chunked && layout_.storage != Storage::contiguous) return;
  const auto grid = layout_.grid();
  whole_rows_ = true;
  for (std::size_t axis = 1; axis < grid.size(); ++axis) {
    box_count_ *= grid[axis];
    whole_rows_ = whole_rows_ && layout_.chunk_shape[axis] == layout_.shape[axis];
  }
  chunk_row_bytes_ = layout_.chunk_bytes() / layout_.rows_per_chunk();
  const auto kept = cache_ == nullptr ? 0 : cache_->budget() / 4;
  const bool small = chunk_row_bytes_ < kSmallRowBytes && layout_.rows() * layout_.row_bytes() <= kept;
  uses_cache_ = !layout_.filters.empty() || small;
}

DatasetReader::Box DatasetReader::box(std::uint64_t index) const {
  const auto axes = layout_.shape.empty() ? 0 : layout_.shape.size() - 1;
  Box box{std::vector<std::uint64_t>(axes), std::vector<std::uint64_t>(axes)};
  for (std::size_t axis = axes; axis-- > 0;) {
    const auto extent = layout_.chunk_shape[axis + 1];
    const auto along = (layout_.shape[axis + 1] + extent - 1) / extent;
    box.begin[axis] = index % along * extent;
    box.extent[axis] = std::min(extent, layout_.shape[axis + 1] - box.begin[axis]);
    index /= along;
  }
  return box;
}

Result<void> DatasetReader::read(std::span<const RowRequest> requests, ReadScratch& scratch, ReadStatistics& statistics,
                                 const RowCachePlan* plan) const {
  statistics.bytes_delivered += requests.size() * layout_.row_bytes();
  if (layout_.row_bytes() == 0) return {};
  if (const auto* rows = kept_rows(scratch, statistics); rows != nullptr) {
    const Stopwatch watch(statistics.copy_seconds);
    const auto bytes = static_cast<std::size_t>(layout_.row_bytes());
    for (const auto& request : requests) std::memcpy(request.to, rows + request.row * bytes, bytes);
    return {};
  }
  return read_stored(requests, scratch, statistics, plan);
}

bool DatasetReader::is_small() const noexcept {
  return (layout_.storage == Storage::chunked || layout_.storage == Storage::contiguous) &&
         layout_.row_bytes() < kSmallRowBytes && layout_.rows() * layout_.row_bytes() <= kKeptBytes;
}

void DatasetReader::keep_all_rows() noexcept {
  keeps_all_rows_ = true;
  uses_cache_ = false;
}

const std::byte* DatasetReader::kept_rows(ReadScratch& scratch, ReadStatistics& statistics) const {
  if (!keeps_all_rows_) return nullptr;
  if (const auto* rows = loaded_.load(std::memory_order_acquire); rows != nullptr) return rows;
  std::call_once(loading_, [&] {
    const auto bytes = static_cast<std::size_t>(layout_.row_bytes());
    rows_.resize(static_cast<std::size_t>(layout_.rows()) * bytes);
    const auto block =
        (kRowsAtOnce + layout_.rows_per_chunk() - 1) / layout_.rows_per_chunk() * layout_.rows_per_chunk();
    std::vector<RowRequest> requests;
    for (std::uint64_t row = 0; row < layout_.rows() && !rows_.empty();) {
      requests.clear();
      const auto end = std::min(layout_.rows(), row + block);
      for (; row < end; ++row) requests.push_back({row, rows_.data() + row * bytes});
      if (!read_stored(requests, scratch, statistics, nullptr)) rows_ = {};
    }
    loaded_.store(rows_.empty() ? nullptr : rows_.data(), std::memory_order_release);
  });
  return loaded_.load(std::memory_order_acquire);
}

Result<void> DatasetReader::read_stored(std::span<const RowRequest> requests, ReadScratch& scratch,
                                        ReadStatistics& statistics, const RowCachePlan* plan) const {
  if (library_) return read_by_library(requests, statistics);
  if (layout_.storage == Storage::compact) {
    const Stopwatch watch(statistics.copy_seconds);
    for (const auto& request : requests)
      std::memcpy(request.to, layout_.compact.data() + request.row * layout_.row_bytes(), layout_.row_bytes());
    return {};
  }
  const auto rows = layout_.rows_per_chunk();
  auto& later = scratch.later;
  later.clear();
  for (std::size_t begin = 0; begin < requests.size();) {
    const auto chunk_row = requests[begin].row / rows;
    std::size_t count = 1;
    while (begin + count < requests.size() && requests[begin + count].row / rows == chunk_row) ++count;
    for (std::uint64_t box = 0; box < box_count_; ++box) {
      RL_TRY_ASSIGN(const bool done, read_box(box, requests.subspan(begin, count), scratch, statistics, plan, false));
      if (!done) later.push_back({begin, count, box});
    }
    begin += count;
  }
  // Workers that waited here at once would follow each other from chunk to chunk, one decoding, the others watching.
  for (const auto& part : later)
    RL_TRY(read_box(part.box, requests.subspan(part.begin, part.count), scratch, statistics, plan, true));
  return {};
}

/// All requests lie in the same chunks along the first axis.
Result<bool> DatasetReader::read_box(std::uint64_t number, std::span<const RowRequest> group, ReadScratch& scratch,
                                     ReadStatistics& statistics, const RowCachePlan* plan, bool may_wait) const {
  const auto index = group.front().row / layout_.rows_per_chunk() * box_count_ + number;
  const auto part = whole_rows_ ? Box{} : box(number);
  const auto chunk = layout_.chunk(index);
  if (chunk.missing()) {
    scratch.row.resize(static_cast<std::size_t>(chunk_row_bytes_));
    chunks_.fill(scratch.row);
    for (const auto& request : group) copy_row(part, scratch.row.data(), request.to);
    return true;
  }
  const bool small = uses_cache_ && layout_.filters.empty();
  if (chunks_.plain(chunk) && !small) {
    RL_TRY(read_rows_of_chunk(index, part, group, scratch, statistics));
    return true;
  }
  if (plan == nullptr) return read_whole_chunk(index, part, group, scratch, statistics, may_wait);
  RL_TRY(read_by_row_cache(index, group, scratch, statistics, *plan));
  return true;
}

Result<void> DatasetReader::read_rows_of_chunk(std::uint64_t index, const Box& box, std::span<const RowRequest> group,
                                               ReadScratch& scratch, ReadStatistics& statistics) const {
  const auto place = [&](const RowRequest& request) {
    return request.row % layout_.rows_per_chunk() * chunk_row_bytes_;
  };
  const auto bytes = static_cast<std::size_t>(chunk_row_bytes_);
  // The chunk may be shorter than its shape says only when it is damaged; reading on would deliver a neighbour's bytes.
  if (const auto chunk = layout_.chunk(index);
      layout_.storage == Storage::chunked && chunk.size != layout_.chunk_bytes())
    return base::fail(base::ErrorCode::corrupt, "{}: dataset \"{}\": chunk {}: {} stored bytes, expected {}",
                      file_.path().string(), layout_.dataset, layout_.chunk_name(index), chunk.size,
                      layout_.chunk_bytes());
  if (!whole_rows_) {
    scratch.row.resize(bytes);
    for (const auto& request : group) {
      iovec part{scratch.row.data(), bytes};
      RL_TRY(chunks_.read_plain(index, place(request), {&part, 1}, statistics));
      const Stopwatch watch(statistics.copy_seconds);
      chunks_.to_host_order(scratch.row);
      copy_row(box, scratch.row.data(), request.to);
    }
    return {};
  }
  while (!group.empty()) {
    std::size_t run = 1;
    while (run < group.size() && run < kMostParts && group[run].row == group[run - 1].row + 1) ++run;
    auto& parts = scratch.parts;
    parts.clear();
    for (std::size_t i = 0; i < run; ++i) {
      if (i > 0 && group[i].to == group[i - 1].to + bytes)
        parts.back().iov_len += bytes;
      else
        parts.push_back({group[i].to, bytes});
    }
    RL_TRY(chunks_.read_plain(index, place(group.front()), parts, statistics));
    if (layout_.element.big_endian)
      for (std::size_t i = 0; i < run; ++i) chunks_.to_host_order({group[i].to, bytes});
    group = group.subspan(run);
  }
  return {};
}

Result<bool> DatasetReader::read_whole_chunk(std::uint64_t index, const Box& box, std::span<const RowRequest> group,
                                             ReadScratch& scratch, ReadStatistics& statistics, bool may_wait) const {
  const auto bytes = static_cast<std::size_t>(layout_.storage == Storage::contiguous ? layout_.chunk(index).size
                                                                                     : layout_.chunk_bytes());
  std::span<const std::byte> data;
  ChunkPointer kept;
  if (cache_ != nullptr && cache_->budget() > 0) {
    const auto make = [&]() -> Result<ChunkPointer> {
      auto chunk = std::make_shared<DecodedChunk>(bytes);
      RL_TRY(chunks_.read(index, chunk->bytes(), scratch, statistics));
      return ChunkPointer(std::move(chunk));
    };
    std::uint64_t next_use = 0;
    for (const auto& request : group) next_use = std::max(next_use, request.next_use);
    RL_TRY_ASSIGN(auto found, cache_->get(cache_key_ | index, next_use, make, may_wait));
    if (!found.chunk) return false;
    kept = std::move(found.chunk);
    statistics.chunk_cache_hits += found.hit ? 1 : 0;
    data = kept->bytes();
  } else {
    scratch.chunk.resize(bytes);
    RL_TRY(chunks_.read(index, scratch.chunk, scratch, statistics));
    data = scratch.chunk;
  }
  const Stopwatch watch(statistics.copy_seconds);
  for (const auto& request : group) {
    const auto* from = data.data() + request.row % layout_.rows_per_chunk() * chunk_row_bytes_;
    copy_row(box, from, request.to);
  }
  return true;
}

Result<void> DatasetReader::read_by_row_cache(std::uint64_t index, std::span<const RowRequest> group,
                                              ReadScratch& scratch, ReadStatistics& statistics,
                                              const RowCachePlan& plan) const {
  auto& missing = scratch.missing;
  missing.clear();
  {
    const Stopwatch watch(statistics.copy_seconds);
    for (const auto& request : group)
      if (!plan.row_cache->take(request.row, request.to)) missing.push_back({request.row, request.to});
  }
  statistics.chunk_cache_hits += group.size() - missing.size();
  if (missing.empty()) return {};
  scratch.chunk.resize(static_cast<std::size_t>(layout_.chunk_bytes()));
  RL_TRY(chunks_.read(index, scratch.chunk, scratch, statistics));
  const Stopwatch watch(statistics.copy_seconds);
  const auto place_in_chunk = [&](std::uint64_t row) {
    return scratch.chunk.data() + row % layout_.rows_per_chunk() * chunk_row_bytes_;
  };
  for (const auto& [row, to] : missing)
    std::memcpy(to, place_in_chunk(row), static_cast<std::size_t>(chunk_row_bytes_));
  const auto first = index * layout_.rows_per_chunk();
  const auto last = std::min(first + layout_.rows_per_chunk(), layout_.rows());
  for (auto row = first; row < last; ++row) {
    const auto place = (*plan.place_of_row)[static_cast<std::size_t>(row)];
    if (place == RowCachePlan::kNoPlace || place < plan.batch_end) continue;
    plan.row_cache->offer(row, place, plan.floor, place_in_chunk(row));
  }
  return {};
}

Result<void> DatasetReader::read_by_library(std::span<const RowRequest> requests, ReadStatistics& statistics) const {
  const Stopwatch watch(statistics.read_seconds);
  const auto bytes = static_cast<std::size_t>(layout_.row_bytes());
  while (!requests.empty()) {
    std::size_t run = 1;
    while (run < requests.size() && requests[run].row == requests[run - 1].row + 1 &&
           requests[run].to == requests[run - 1].to + bytes)
      ++run;
    // The library leaves a compound's padding as it was: zero, not what the buffer held before.
    if (layout_.element.kind == ElementKind::opaque) std::memset(requests.front().to, 0, run * bytes);
    RL_TRY(library_->read(requests.front().row, run, {requests.front().to, run * bytes}));
    statistics.tally.bytes += run * bytes;  // what the library itself reads is not known; at least this
    requests = requests.subspan(run);
  }
  return {};
}

/// From one row of a chunk into its place in a whole row: trailing axes that the chunk spans are copied in one go.
void DatasetReader::copy_row(const Box& box, const std::byte* chunk_row, std::byte* row) const {
  if (whole_rows_) {
    std::memcpy(row, chunk_row, static_cast<std::size_t>(chunk_row_bytes_));
    return;
  }
  const auto axes = box.begin.size();
  std::size_t run = layout_.element.size;
  std::size_t axis = axes;
  while (axis > 0) {
    run *= static_cast<std::size_t>(box.extent[--axis]);
    if (layout_.chunk_shape[axis + 1] != layout_.shape[axis + 1]) break;
  }
  std::vector<std::uint64_t> at(axis, 0);
  for (;;) {
    // Element offsets by Horner's rule over all axes; those beyond `axis` are spanned and add only their length.
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    for (std::size_t i = 0; i < axes; ++i) {
      const auto index = i < axis ? at[i] : 0;
      from = from * layout_.chunk_shape[i + 1] + index;
      to = to * layout_.shape[i + 1] + box.begin[i] + index;
    }
    std::memcpy(row + to * layout_.element.size, chunk_row + from * layout_.element.size, run);
    auto moving = axis;
    while (moving > 0 && ++at[moving - 1] == box.extent[moving - 1]) at[--moving] = 0;
    if (moving == 0) return;
  }
}

}  // namespace ridgeline::loader
