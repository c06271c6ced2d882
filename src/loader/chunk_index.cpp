// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_index.hpp"

#include <algorithm>

#include "loader/object_header.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

enum class IndexKind { btree, single, implicit, fixed_array, other };

struct IndexPlace {
  IndexKind kind = IndexKind::other;
  std::uint64_t address = ChunkEntry::kMissing;
  std::uint32_t single_bytes = 0;  ///< single chunk with filters: its stored bytes and mask
  std::uint32_t single_mask = 0;
};

/// Layout message version 4: flags, chunk shape, then what the index kind needs, then the address.
Result<IndexPlace> parse_version_4(FieldReader& in, const HeaderPlace& place) {
  IndexPlace index;
  const auto flags = in.number(1);
  const auto axes = in.number(1);
  const auto width = in.number(1);
  if (width == 0 || width > 8) return fail(ErrorCode::corrupt, "chunk extents of {} bytes", width);
  in.skip(static_cast<std::size_t>(axes * width));
  const auto kind = in.number(1);
  if (kind == 1) {
    index.kind = IndexKind::single;
    if ((flags & 2U) != 0) {
      index.single_bytes = static_cast<std::uint32_t>(in.number(place.length_bytes));
      index.single_mask = static_cast<std::uint32_t>(in.number(4));
    }
  } else if (kind == 2) {
    index.kind = IndexKind::implicit;
  } else if (kind == 3) {
    index.kind = IndexKind::fixed_array;
    in.skip(1);  // page bits; the array's own header repeats them
  } else {
    return index;
  }
  index.address = in.address(place.address_bytes);
  return index;
}

Result<IndexPlace> parse_layout_message(std::span<const std::byte> message, const HeaderPlace& place) {
  constexpr unsigned kChunkedClass = 2;
  FieldReader in(message);
  IndexPlace index;
  const auto version = in.number(1);
  if (version >= 1 && version <= 2) {
    in.skip(1);
    if (in.number(1) != kChunkedClass) return fail(ErrorCode::corrupt, "a layout message that is not of chunks");
    in.skip(5);
    index.kind = IndexKind::btree;
    index.address = in.address(place.address_bytes);
  } else if (version == 3 || version == 4) {
    if (in.number(1) != kChunkedClass) return fail(ErrorCode::corrupt, "a layout message that is not of chunks");
    if (version == 4) {
      RL_TRY_ASSIGN(index, parse_version_4(in, place));
    } else {
      in.skip(1);
      index.kind = IndexKind::btree;
      index.address = in.address(place.address_bytes);
    }
  }
  if (!in.good()) return fail(ErrorCode::corrupt, "a layout message that is cut off");
  return index;
}

class IndexReader {
 public:
  IndexReader(const ByteSource& file, const HeaderPlace& place, const DatasetLayout& layout)
      : file_(file), place_(place), layout_(layout), grid_(layout.grid()), entries_(layout.chunk_count()) {}

  Result<void> btree(std::uint64_t address, unsigned expected_level, bool is_root);
  Result<void> fixed_array(std::uint64_t address);
  Result<void> single(const IndexPlace& index) {
    if (entries_.size() != 1) return fail(ErrorCode::corrupt, "a single-chunk index for {} chunks", entries_.size());
    const auto bytes = layout_.filters.empty() ? static_cast<std::uint32_t>(layout_.chunk_bytes()) : index.single_bytes;
    return put(0, index.address, bytes, index.single_mask);
  }
  Result<void> implicit(std::uint64_t address) {
    const auto bytes = layout_.chunk_bytes();
    for (std::size_t i = 0; i < entries_.size(); ++i)
      RL_TRY(put(i, address + i * bytes, static_cast<std::uint32_t>(bytes), 0));
    return {};
  }
  std::vector<ChunkEntry> take() { return std::move(entries_); }

 private:
  Result<void> put(std::uint64_t index, std::uint64_t address, std::uint64_t bytes, std::uint32_t mask) {
    if (address == ChunkEntry::kMissing) return {};
    if (address > file_.size() || bytes > 0xFFFFFFFFU)
      return fail(ErrorCode::corrupt, "chunk {} ({} bytes at {}) reaches beyond the file", layout_.chunk_name(index),
                  bytes, address);
    entries_[static_cast<std::size_t>(index)] = {place_.base + address, static_cast<std::uint32_t>(bytes), mask};
    return {};
  }
  Result<std::vector<std::byte>> piece(std::uint64_t address, std::uint64_t bytes) const {
    if (address > file_.size() || place_.base + address > file_.size() || bytes > file_.size() - place_.base - address)
      return fail(ErrorCode::corrupt, "a chunk index node ({} bytes at {}) reaches beyond the file", bytes, address);
    std::vector<std::byte> data(static_cast<std::size_t>(bytes));
    RL_TRY(file_.read(place_.base + address, data));
    return data;
  }
  Result<void> leaf_entry(FieldReader& in, std::uint64_t bytes, std::uint32_t mask);
  Result<void> array_elements(FieldReader& in, std::uint64_t first, std::uint64_t count, unsigned entry_bytes,
                              bool filtered);

  const ByteSource& file_;
  const HeaderPlace& place_;
  const DatasetLayout& layout_;
  std::vector<std::uint64_t> grid_;
  std::vector<ChunkEntry> entries_;
  std::uint64_t next_allowed_ = 0;  ///< keys only grow: one past the linear index of the last chunk seen
  std::uint64_t nodes_ = 0;
};

/// One (key, child) pair of a leaf: the chunk's offset in elements, one number an axis and one for the element's bytes.
Result<void> IndexReader::leaf_entry(FieldReader& in, std::uint64_t bytes, std::uint32_t mask) {
  std::uint64_t index = 0;
  for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
    const auto offset = in.number(8);
    const auto extent = layout_.chunk_shape[axis];
    if (offset % extent != 0 || offset / extent >= grid_[axis])
      return fail(ErrorCode::corrupt, "a chunk at offset {} of axis {}, outside the grid", offset, axis);
    index = index * grid_[axis] + offset / extent;
  }
  in.skip(8);
  const auto address = in.address(place_.address_bytes);
  if (index < next_allowed_)
    return fail(ErrorCode::corrupt, "chunk {} is out of order or listed twice", layout_.chunk_name(index));
  next_allowed_ = index + 1;
  return put(index, address, bytes, mask);
}

Result<void> IndexReader::btree(std::uint64_t address, unsigned expected_level, bool is_root) {
  constexpr unsigned kChunkNode = 1;
  // A node holds at least one chunk below it; twice that and some leaves room for what deletions left behind.
  if (++nodes_ > 2 * entries_.size() + 64) return fail(ErrorCode::corrupt, "the chunk B-tree goes round in circles");
  const unsigned width = place_.address_bytes;
  RL_TRY_ASSIGN(const auto head, piece(address, 8 + 2 * width));
  FieldReader fields(head);
  if (!fields.signature("TREE") || fields.number(1) != kChunkNode)
    return fail(ErrorCode::corrupt, "no chunk B-tree node at {}", address);
  const auto level = static_cast<unsigned>(fields.number(1));
  const auto used = fields.number(2);
  if (!is_root && level != expected_level)
    return fail(ErrorCode::corrupt, "a chunk B-tree node of level {} at {}, expected {}", level, address,
                expected_level);
  const auto key_bytes = 8 + 8 * (grid_.size() + 1);
  RL_TRY_ASSIGN(const auto body, piece(address + head.size(), used * (key_bytes + width)));
  FieldReader in(body);
  for (std::uint64_t i = 0; i < used; ++i) {
    const auto bytes = in.number(4);
    const auto mask = static_cast<std::uint32_t>(in.number(4));
    if (level == 0) {
      RL_TRY(leaf_entry(in, bytes, mask));
      continue;
    }
    in.skip(8 * (grid_.size() + 1));
    RL_TRY(btree(in.address(width), level - 1, false));
  }
  return {};
}

Result<void> IndexReader::array_elements(FieldReader& in, std::uint64_t first, std::uint64_t count,
                                         unsigned entry_bytes, bool filtered) {
  const unsigned width = place_.address_bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto address = in.address(width);
    std::uint64_t bytes = layout_.chunk_bytes();
    std::uint32_t mask = 0;
    if (filtered) {
      bytes = in.number(entry_bytes - width - 4);
      mask = static_cast<std::uint32_t>(in.number(4));
    }
    RL_TRY(put(first + i, address, bytes, mask));
  }
  return in.good() ? Result<void>{} : fail(ErrorCode::corrupt, "a fixed array that is cut off");
}

Result<void> IndexReader::fixed_array(std::uint64_t address) {
  const unsigned width = place_.address_bytes;
  RL_TRY_ASSIGN(const auto head, piece(address, 8 + place_.length_bytes + width));
  FieldReader header(head);
  if (!header.signature("FAHD") || header.number(1) != 0)
    return fail(ErrorCode::corrupt, "no fixed array at {}", address);
  const bool filtered = header.number(1) == 1;
  const auto entry_bytes = static_cast<unsigned>(header.number(1));
  const auto page_bits = static_cast<unsigned>(header.number(1));
  const auto count = header.number(place_.length_bytes);
  const auto block_address = header.address(width);
  if (filtered ? (entry_bytes <= width + 4 || entry_bytes > width + 12) : entry_bytes != width)
    return fail(ErrorCode::corrupt, "a fixed array with entries of {} bytes", entry_bytes);
  if (count != entries_.size() || page_bits > 32)
    return fail(ErrorCode::corrupt, "a fixed array of {} entries, expected {}", count, entries_.size());
  if (block_address == ChunkEntry::kMissing) return {};  // nothing was ever written
  constexpr std::uint64_t kChecksum = 4;
  const std::uint64_t page_entries = std::uint64_t{1} << page_bits;
  const std::uint64_t pages = count > page_entries ? (count + page_entries - 1) / page_entries : 0;
  const std::uint64_t prefix = 6 + width;
  const std::uint64_t bitmap_bytes = (pages + 7) / 8;
  RL_TRY_ASSIGN(const auto block, piece(block_address, prefix + (pages == 0 ? count * entry_bytes : bitmap_bytes)));
  FieldReader in(block);
  if (!in.signature("FADB")) return fail(ErrorCode::corrupt, "no fixed array block at {}", block_address);
  in.skip(prefix - 4);
  if (pages == 0) return array_elements(in, 0, count, entry_bytes, filtered);
  const auto bitmap = in.rest();
  auto page_address = block_address + prefix + bitmap_bytes + kChecksum;
  for (std::uint64_t page = 0; page < pages; ++page) {
    const auto first = page * page_entries;
    const auto entries = std::min(page_entries, count - first);
    const auto bit = std::to_integer<unsigned>(bitmap[static_cast<std::size_t>(page / 8)]) >> (7 - page % 8) & 1U;
    if (bit != 0) {
      RL_TRY_ASSIGN(const auto data, piece(page_address, entries * entry_bytes));
      FieldReader fields(data);
      RL_TRY(array_elements(fields, first, entries, entry_bytes, filtered));
    }
    page_address += page_entries * entry_bytes + kChecksum;
  }
  return {};
}

}  // namespace

Result<std::optional<std::vector<ChunkEntry>>> read_chunk_index(const ByteSource& file, const HeaderPlace& place,
                                                                const DatasetLayout& layout) {
  const auto named = [&](base::Error error) {
    return tl::unexpected(std::move(error).in(fmt::format("dataset \"{}\"", layout.dataset)));
  };
  auto message = read_layout_message(file, place);
  if (!message) return named(std::move(message).error());
  auto index = parse_layout_message(*message, place);
  if (!index) return named(std::move(index).error());
  const bool array = index->kind == IndexKind::fixed_array || index->kind == IndexKind::implicit;
  if (index->kind == IndexKind::other || (array && !place.fixed_extent)) return std::nullopt;
  IndexReader reader(file, place, layout);
  if (index->address == ChunkEntry::kMissing) return reader.take();
  Result<void> done;
  switch (index->kind) {
    case IndexKind::btree: done = reader.btree(index->address, 0, true); break;
    case IndexKind::single: done = reader.single(*index); break;
    case IndexKind::implicit: done = reader.implicit(index->address); break;
    case IndexKind::fixed_array: done = reader.fixed_array(index->address); break;
    case IndexKind::other: break;
  }
  if (!done) return named(std::move(done).error());
  return reader.take();
}

}  // namespace ridgeline::loader
