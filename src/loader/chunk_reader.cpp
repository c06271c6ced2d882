// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_reader.hpp"

#include <algorithm>
#include <cstring>

#include "loader/stopwatch.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

template <typename Word>
void swap_words(std::span<std::byte> bytes, Word (*swap)(Word)) noexcept {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    word = swap(word);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

}  // namespace

ReadStatistics& ReadStatistics::operator+=(const ReadStatistics& other) {
  tally.bytes += other.tally.bytes;
  tally.cold_bytes += other.tally.cold_bytes;
  bytes_delivered += other.bytes_delivered;
  chunks_decoded += other.chunks_decoded;
  chunk_cache_hits += other.chunk_cache_hits;
  read_seconds += other.read_seconds;
  decode_seconds += other.decode_seconds;
  copy_seconds += other.copy_seconds;
  return *this;
}

bool ChunkReader::plain(const ChunkEntry& chunk) const noexcept {
  const auto steps = layout_.filters.size();
  const auto every = steps >= 32 ? 0xFFFFFFFFU : (1U << steps) - 1U;
  return (chunk.filter_mask & every) == every;
}

tl::unexpected<base::Error> ChunkReader::named(base::Error error, std::uint64_t index) const {
  return tl::unexpected(std::move(error).in(
      fmt::format("{}: dataset \"{}\": chunk {}", file_.path().string(), layout_.dataset, layout_.chunk_name(index))));
}

Result<void> ChunkReader::read(std::uint64_t index, std::span<std::byte> out, ReadScratch& scratch,
                               ReadStatistics& statistics) const {
  const auto chunk = layout_.chunk(index);
  if (chunk.missing()) {
    fill(out);
    return {};
  }
  if (plain(chunk)) {
    if (layout_.storage == Storage::chunked && chunk.size != out.size())
      return named({ErrorCode::corrupt, fmt::format("{} stored bytes, expected {}", chunk.size, out.size())}, index);
    iovec part{out.data(), std::min<std::size_t>(out.size(), chunk.size)};
    RL_TRY(read_plain(index, 0, {&part, 1}, statistics));
    to_host_order(out);
    return {};
  }
  scratch.stored.resize(chunk.size);
  iovec part{scratch.stored.data(), scratch.stored.size()};
  RL_TRY(read_plain(index, 0, {&part, 1}, statistics));
  const Stopwatch watch(statistics.decode_seconds);
  if (auto undone = scratch.pipeline.undo(layout_.filters, chunk.filter_mask, scratch.stored, out); !undone)
    return named(std::move(undone).error(), index);
  to_host_order(out);
  ++statistics.chunks_decoded;
  return {};
}

Result<void> ChunkReader::read_plain(std::uint64_t index, std::uint64_t from, std::span<iovec> parts,
                                     ReadStatistics& statistics) const {
  const Stopwatch watch(statistics.read_seconds);
  if (auto read = file_.read(layout_.chunk(index).offset + from, parts, statistics.tally); !read)
    return named(std::move(read).error(), index);
  return {};
}

void ChunkReader::fill(std::span<std::byte> out) const noexcept {
  const auto& value = layout_.fill_value;
  if (std::all_of(value.begin(), value.end(), [&](std::byte byte) { return byte == value.front(); })) {
    std::fill(out.begin(), out.end(), value.front());
    return;
  }
  for (std::size_t at = 0; at + value.size() <= out.size(); at += value.size())
    std::memcpy(out.data() + at, value.data(), value.size());
}

void ChunkReader::to_host_order(std::span<std::byte> elements) const noexcept {
  if (!layout_.element.big_endian) return;
  switch (layout_.element.size) {
    case 2: swap_words<std::uint16_t>(elements, [](std::uint16_t word) { return __builtin_bswap16(word); }); break;
    case 4: swap_words<std::uint32_t>(elements, [](std::uint32_t word) { return __builtin_bswap32(word); }); break;
    case 8: swap_words<std::uint64_t>(elements, [](std::uint64_t word) { return __builtin_bswap64(word); }); break;
    default: break;
  }
}

}  // namespace ridgeline::loader
