// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "loader/chunk_array.hpp"
#include "loader/metadata_checksum.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Header {
  std::uint64_t address = 0;
  ArrayElement element;
  std::uint64_t page_elements = 1;
  std::uint64_t count = 0;
  std::uint64_t block = ChunkEntry::kMissing;
};

Result<Header> read_header(const IndexFile& file, std::uint64_t address) {
  constexpr unsigned kMostPageBits = 32;
  RL_TRY_ASSIGN(const auto bytes, file.read_checked(address, 8 + file.length_bytes() + file.address_bytes(),
                                                    "the header of a fixed array"));
  FieldReader in(bytes);
  if (!in.signature("FAHD")) return fail(ErrorCode::corrupt, "no fixed array at {}", address);
  if (const auto version = in.number(1); version != 0)
    return fail(ErrorCode::unsupported, "a fixed array of version {}", version);
  const auto client = in.number(1);
  Header header;
  header.address = address;
  RL_TRY_ASSIGN(header.element, ArrayElement::make(client, in.number(1), file.address_bytes()));
  const auto page_bits = in.number(1);
  header.count = in.number(file.length_bytes());
  header.block = in.address(file.address_bytes());
  if (page_bits > kMostPageBits) return fail(ErrorCode::corrupt, "a fixed array with pages of 2^{}", page_bits);
  header.page_elements = std::uint64_t{1} << page_bits;
  return header;
}

Result<void> check_block(FieldReader& in, const IndexFile& file, const Header& header) {
  if (!in.signature("FADB")) return fail(ErrorCode::corrupt, "no fixed array block at {}", header.block);
  in.skip(2);  // version and client, as in the header
  if (const auto owner = in.address(file.address_bytes()); owner != header.address)
    return fail(ErrorCode::corrupt, "the fixed array block at {} belongs to an array at {}, not {}", header.block,
                owner, header.address);
  return {};
}

}  // namespace

Result<void> read_fixed_array(const IndexFile& file, std::uint64_t address, const ArrayOrder& order,
                              ChunkTable& table) {
  RL_TRY_ASSIGN(const auto header, read_header(file, address));
  if (header.count != order.capacity())
    return fail(ErrorCode::corrupt, "a fixed array of {} entries, expected {}", header.count, order.capacity());
  if (header.block == ChunkEntry::kMissing) return {};  // nothing was ever written
  const auto element = header.element.bytes();
  const std::uint64_t prefix = 6 + file.address_bytes();
  if (header.count <= header.page_elements) {
    RL_TRY_ASSIGN(const auto block,
                  file.read_checked(header.block, prefix + header.count * element, "the block of a fixed array"));
    FieldReader in(block);
    RL_TRY(check_block(in, file, header));
    return put_elements(in, header.element, 0, header.count, order, table);
  }
  const auto pages = (header.count - 1) / header.page_elements + 1;
  const auto bitmap_bytes = (pages + 7) / 8;
  RL_TRY_ASSIGN(const auto block, file.read_checked(header.block, prefix + bitmap_bytes, "the block of a fixed array"));
  FieldReader in(block);
  RL_TRY(check_block(in, file, header));
  const auto bitmap = in.rest();
  auto page_address = header.block + prefix + bitmap_bytes + kChecksumBytes;
  for (std::uint64_t page = 0; page < pages; ++page) {
    const auto first = page * header.page_elements;
    const auto count = std::min(header.page_elements, header.count - first);
    if (first >= order.end()) break;
    if (bit_of(bitmap, page)) {
      auto data = file.read_checked(page_address, count * element, "a page of a fixed array");
      if (!data)
        return tl::unexpected(
            std::move(data).error().in(fmt::format("the index from {} on", element_name(first, order, table))));
      FieldReader fields(*data);
      RL_TRY(put_elements(fields, header.element, first, count, order, table));
    }
    page_address += count * element + kChecksumBytes;
  }
  return {};
}

}  // namespace ridgeline::loader
