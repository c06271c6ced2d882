// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_index.hpp"

#include "loader/chunk_array.hpp"
#include "loader/chunk_btree.hpp"
#include "loader/chunk_table.hpp"
#include "loader/index_file.hpp"
#include "loader/object_header.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

enum class IndexKind { btree_1, single, implicit, fixed_array, extensible_array, btree_2, other };

struct IndexPlace {
  IndexKind kind = IndexKind::other;
  std::uint64_t address = ChunkEntry::kMissing;
  std::uint32_t single_bytes = 0;  ///< single chunk with filters: its stored bytes and mask
  std::uint32_t single_mask = 0;
  std::string unknown;  ///< what kind the other one is
};

/// Layout message version 4: flags, chunk shape, then what the index kind needs, then the address.
Result<IndexPlace> parse_version_4(FieldReader& in, const HeaderPlace& place) {
  constexpr unsigned kFilteredSingle = 2;
  IndexPlace index;
  const auto flags = in.number(1);
  const auto axes = in.number(1);
  const auto width = in.number(1);
  if (width == 0 || width > 8) return fail(ErrorCode::corrupt, "chunk extents of {} bytes", width);
  in.skip(static_cast<std::size_t>(axes * width));
  // What else a kind keeps here (page bits and the like) stands in the header of the array or tree again.
  switch (const auto kind = in.number(1); kind) {
    case 1:
      index.kind = IndexKind::single;
      if ((flags & kFilteredSingle) != 0) {
        index.single_bytes = static_cast<std::uint32_t>(in.number(place.length_bytes));
        index.single_mask = static_cast<std::uint32_t>(in.number(4));
      }
      break;
    case 2: index.kind = IndexKind::implicit; break;
    case 3:
      index.kind = IndexKind::fixed_array;
      in.skip(1);
      break;
    case 4:
      index.kind = IndexKind::extensible_array;
      in.skip(5);
      break;
    case 5:
      index.kind = IndexKind::btree_2;
      in.skip(6);
      break;
    default: index.unknown = fmt::format("a chunk index of kind {}", kind); return index;
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
    index.kind = IndexKind::btree_1;
    index.address = in.address(place.address_bytes);
  } else if (version == 3 || version == 4) {
    if (in.number(1) != kChunkedClass) return fail(ErrorCode::corrupt, "a layout message that is not of chunks");
    if (version == 4) {
      RL_TRY_ASSIGN(index, parse_version_4(in, place));
    } else {
      in.skip(1);
      index.kind = IndexKind::btree_1;
      index.address = in.address(place.address_bytes);
    }
  } else {
    index.unknown = fmt::format("a layout message of version {}", version);
  }
  if (!in.good()) return fail(ErrorCode::corrupt, "a layout message that is cut off");
  return index;
}

Result<void> read_single(const IndexPlace& index, ChunkTable& table) {
  if (table.size() != 1) return fail(ErrorCode::corrupt, "a single-chunk index for {} chunks", table.size());
  const auto& layout = table.layout();
  return table.put(0, index.address, layout.filters.empty() ? layout.chunk_bytes() : index.single_bytes,
                   index.single_mask);
}

/// All chunks lie one after the other, room for those of the greatest extent between them.
Result<void> read_implicit(std::uint64_t address, const ArrayOrder& order, ChunkTable& table) {
  const auto bytes = table.layout().chunk_bytes();
  for (std::uint64_t place = 0; place < table.size(); ++place)
    RL_TRY(table.put(place, address + order.number(place) * bytes, bytes, 0));
  return {};
}

Result<void> read_index(const IndexPlace& index, const IndexFile& file, const HeaderPlace& place, ChunkTable& table) {
  if (index.kind == IndexKind::other) return fail(ErrorCode::unsupported, "{}", index.unknown);
  if (index.address == ChunkEntry::kMissing || table.size() == 0) return {};
  if (index.kind == IndexKind::btree_1) return read_btree_1(file, index.address, table);
  if (index.kind == IndexKind::btree_2) return read_btree_2(file, index.address, table);
  if (index.kind == IndexKind::single) return read_single(index, table);
  RL_TRY_ASSIGN(const auto order, ArrayOrder::make(table.layout(), place.max_shape));
  if (index.kind == IndexKind::extensible_array) return read_extensible_array(file, index.address, order, table);
  if (order.capacity() == 0) return fail(ErrorCode::corrupt, "a fixed chunk index for an axis without a limit");
  if (index.kind == IndexKind::implicit) return read_implicit(index.address, order, table);
  return read_fixed_array(file, index.address, order, table);
}

}  // namespace

Result<ChunkIndex> read_chunk_index(const ByteSource& file, const HeaderPlace& place, const DatasetLayout& layout) {
  const auto named = [&](base::Error error) {
    return tl::unexpected(std::move(error).in(fmt::format("dataset \"{}\"", layout.dataset)));
  };
  auto message = read_layout_message(file, place);
  if (!message) return named(std::move(message).error());
  auto index = parse_layout_message(*message, place);
  if (!index) return named(std::move(index).error());
  ChunkTable table(layout, place, file.size());
  auto done = read_index(*index, IndexFile(file, place), place, table);
  if (!done && done.error().code == ErrorCode::unsupported)
    return ChunkIndex{std::nullopt, std::move(done).error().message};
  if (!done) return named(std::move(done).error());
  return ChunkIndex{std::move(table).take(), ""};
}

}  // namespace ridgeline::loader
