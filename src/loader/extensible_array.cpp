// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "loader/chunk_array.hpp"
#include "loader/metadata_checksum.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// Super block number n stands for 2^(n/2) data blocks of 2^((n+1)/2) times the least length, rounded down.
struct SuperBlock {
  std::uint64_t first = 0;     ///< number of its first element, not counting those in the index block
  std::uint64_t blocks = 0;    ///< data blocks
  std::uint64_t elements = 0;  ///< of each
};

/// For sizes that damage may have made huge: what is too much for 64 bits is too much for any file.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 62U;
  return b != 0 && a > kTooMuch / b ? kTooMuch : a * b;
}

class ExtensibleArray {
 public:
  ExtensibleArray(const IndexFile& file, std::uint64_t address, const ArrayOrder& order, ChunkTable& table)
      : file_(file), address_(address), order_(order), table_(table) {}

  Result<void> read() {
    RL_TRY(read_header());
    return index_block_ == ChunkEntry::kMissing ? Result<void>{} : read_index_block();
  }

 private:
  Result<void> read_header();
  Result<void> read_index_block();
  Result<void> read_super_block(std::uint64_t address, const SuperBlock& super);
  struct DataBlock {
    std::uint64_t address = 0;
    std::uint64_t first = 0;         ///< number of its first element
    std::uint64_t stored_first = 0;  ///< what the block may say instead
    std::uint64_t first_bit = 0;     ///< of its pages in the bitmap that tells which are there
  };
  Result<void> read_data_block(const DataBlock& data, const SuperBlock& super, std::span<const std::byte> bitmap);
  /// Signature, owner and, where there is one, the number of the block's first element: either of two.
  Result<void> check_prefix(FieldReader& in, const char (&signature)[5], std::uint64_t address,
                            std::optional<std::uint64_t> first, std::uint64_t or_first) const;
  [[nodiscard]] SuperBlock super_block(unsigned number) const {
    return {((std::uint64_t{1} << number) - 1) * least_elements_, std::uint64_t{1} << number / 2,
            least_elements_ << (number + 1) / 2};
  }
  [[nodiscard]] std::uint64_t pages(const SuperBlock& super) const {
    return super.elements > page_elements_ ? super.elements / page_elements_ : 0;
  }
  [[nodiscard]] bool beyond(std::uint64_t first) const { return index_elements_ + first >= order_.end(); }
  Result<std::vector<std::byte>> read_part(std::uint64_t address, std::uint64_t bytes, std::uint64_t first,
                                           std::string_view what) const;

  const IndexFile& file_;
  std::uint64_t address_;
  const ArrayOrder& order_;
  ChunkTable& table_;
  ArrayElement element_;
  unsigned number_bytes_ = 0;         ///< of an element number
  unsigned super_blocks_ = 0;         ///< in all
  unsigned direct_super_blocks_ = 0;  ///< whose data blocks the index block lists itself
  std::uint64_t index_elements_ = 0;
  std::uint64_t least_elements_ = 0;
  std::uint64_t page_elements_ = 0;
  std::uint64_t index_block_ = ChunkEntry::kMissing;
};

Result<void> ExtensibleArray::read_header() {
  constexpr std::uint64_t kMostBits = 62;
  RL_TRY_ASSIGN(const auto bytes, file_.read_checked(address_, 12 + 6 * file_.length_bytes() + file_.address_bytes(),
                                                     "the header of an extensible array"));
  FieldReader in(bytes);
  if (!in.signature("EAHD")) return fail(ErrorCode::corrupt, "no extensible array at {}", address_);
  if (const auto version = in.number(1); version != 0)
    return fail(ErrorCode::unsupported, "an extensible array of version {}", version);
  const auto client = in.number(1);
  RL_TRY_ASSIGN(element_, ArrayElement::make(client, in.number(1), file_.address_bytes()));
  const auto bits = in.number(1);
  index_elements_ = in.number(1);
  least_elements_ = in.number(1);
  const auto least_pointers = in.number(1);
  const auto page_bits = in.number(1);
  in.skip(6 * file_.length_bytes());  // counts of what was made so far
  index_block_ = in.address(file_.address_bytes());
  if (bits == 0 || bits > kMostBits || page_bits > bits || !std::has_single_bit(least_elements_) ||
      !std::has_single_bit(least_pointers) || least_elements_ > std::uint64_t{1} << bits)
    return fail(ErrorCode::corrupt,
                "an extensible array of 2^{} elements, {} in the least data block, {} such blocks in the least super "
                "block, 2^{} in a page",
                bits, least_elements_, least_pointers, page_bits);
  number_bytes_ = static_cast<unsigned>((bits + 7) / 8);
  super_blocks_ = static_cast<unsigned>(1 + bits) - static_cast<unsigned>(std::countr_zero(least_elements_));
  direct_super_blocks_ = 2 * static_cast<unsigned>(std::countr_zero(least_pointers));
  page_elements_ = std::uint64_t{1} << page_bits;
  if (direct_super_blocks_ > super_blocks_)
    return fail(ErrorCode::corrupt, "an extensible array with {} of {} super blocks in its index block",
                direct_super_blocks_, super_blocks_);
  if (direct_super_blocks_ > 0 && pages(super_block(direct_super_blocks_ - 1)) > 0)
    return fail(ErrorCode::unsupported, "an extensible array with pages below its index block");
  return {};
}

Result<std::vector<std::byte>> ExtensibleArray::read_part(std::uint64_t address, std::uint64_t bytes,
                                                          std::uint64_t first, std::string_view what) const {
  auto data = file_.read_checked(address, bytes, what);
  if (data) return data;
  return tl::unexpected(std::move(data).error().in(
      fmt::format("the index from {} on", element_name(index_elements_ + first, order_, table_))));
}

Result<void> ExtensibleArray::check_prefix(FieldReader& in, const char (&signature)[5], std::uint64_t address,
                                           std::optional<std::uint64_t> first, std::uint64_t or_first) const {
  if (!in.signature(signature))
    return fail(ErrorCode::corrupt, "no extensible array block ({}) at {}", signature, address);
  if (const auto version = in.number(1); version != 0)
    return fail(ErrorCode::unsupported, "an extensible array block of version {}", version);
  in.skip(1);  // the client, as in the header
  if (const auto owner = in.address(file_.address_bytes()); owner != address_)
    return fail(ErrorCode::corrupt, "the extensible array block at {} belongs to an array at {}, not {}", address,
                owner, address_);
  if (!first) return {};
  if (const auto stored = in.number(number_bytes_); stored != *first && stored != or_first)
    return fail(ErrorCode::corrupt, "the extensible array block at {} begins with element {}, expected {}", address,
                stored, *first);
  return {};
}

Result<void> ExtensibleArray::read_index_block() {
  std::uint64_t direct = 0;
  for (unsigned number = 0; number < direct_super_blocks_; ++number) direct += super_block(number).blocks;
  const auto pointers = direct + super_blocks_ - direct_super_blocks_;
  const auto bytes =
      6 + file_.address_bytes() + index_elements_ * element_.bytes() + product(pointers, file_.address_bytes());
  RL_TRY_ASSIGN(const auto block, file_.read_checked(index_block_, bytes, "the index block of an extensible array"));
  FieldReader in(block);
  RL_TRY(check_prefix(in, "EAIB", index_block_, std::nullopt, 0));
  FieldReader elements(in.rest());
  RL_TRY(put_elements(elements, element_, 0, index_elements_, order_, table_));
  in.skip(index_elements_ * element_.bytes());
  std::uint64_t blocks_before = 0;
  for (unsigned number = 0; number < super_blocks_; ++number) {
    const auto super = super_block(number);
    if (beyond(super.first)) break;
    if (number >= direct_super_blocks_) {
      const auto address = in.address(file_.address_bytes());
      if (address != ChunkEntry::kMissing) RL_TRY(read_super_block(address, super));
      continue;
    }
    for (std::uint64_t i = 0; i < super.blocks; ++i) {
      // The library writes such a block's first number as if all data blocks before had been as long as this one.
      const DataBlock data{in.address(file_.address_bytes()), super.first + i * super.elements,
                           super.first + (blocks_before + i) * super.elements, 0};
      if (data.address != ChunkEntry::kMissing && !beyond(data.first)) RL_TRY(read_data_block(data, super, {}));
    }
    blocks_before += super.blocks;
  }
  return {};
}

Result<void> ExtensibleArray::read_super_block(std::uint64_t address, const SuperBlock& super) {
  const auto block_pages = pages(super);
  const auto bitmap_bytes = product(super.blocks, (block_pages + 7) / 8);
  const auto bytes =
      6 + file_.address_bytes() + number_bytes_ + bitmap_bytes + product(super.blocks, file_.address_bytes());
  RL_TRY_ASSIGN(const auto block, read_part(address, bytes, super.first, "a super block of an extensible array"));
  FieldReader in(block);
  RL_TRY(check_prefix(in, "EASB", address, super.first, super.first));
  const auto bitmap = in.rest().first(static_cast<std::size_t>(bitmap_bytes));
  in.skip(bitmap.size());
  for (std::uint64_t i = 0; i < super.blocks; ++i) {
    const auto first = super.first + i * super.elements;
    // The library packs the bits of all blocks densely, though it sets aside whole bytes for each.
    const DataBlock data{in.address(file_.address_bytes()), first, first, i * block_pages};
    if (beyond(first)) break;
    if (data.address != ChunkEntry::kMissing) RL_TRY(read_data_block(data, super, bitmap));
  }
  return {};
}

Result<void> ExtensibleArray::read_data_block(const DataBlock& data, const SuperBlock& super,
                                              std::span<const std::byte> bitmap) {
  const auto block_pages = pages(super);
  const std::uint64_t prefix = 6 + file_.address_bytes() + number_bytes_;
  const auto bytes = prefix + (block_pages == 0 ? product(super.elements, element_.bytes()) : 0);
  RL_TRY_ASSIGN(const auto block, read_part(data.address, bytes, data.first, "a data block of an extensible array"));
  FieldReader in(block);
  RL_TRY(check_prefix(in, "EADB", data.address, data.first, data.stored_first));
  if (block_pages == 0) return put_elements(in, element_, index_elements_ + data.first, super.elements, order_, table_);
  const auto page_bytes = product(page_elements_, element_.bytes());
  for (std::uint64_t page = 0; page < block_pages; ++page) {
    const auto first = data.first + page * page_elements_;
    if (beyond(first)) break;
    if (!bit_of(bitmap, data.first_bit + page)) continue;
    const auto at = data.address + prefix + kChecksumBytes + page * (page_bytes + kChecksumBytes);
    RL_TRY_ASSIGN(const auto elements, read_part(at, page_bytes, first, "a page of an extensible array"));
    FieldReader fields(elements);
    RL_TRY(put_elements(fields, element_, index_elements_ + first, page_elements_, order_, table_));
  }
  return {};
}

}  // namespace

Result<void> read_extensible_array(const IndexFile& file, std::uint64_t address, const ArrayOrder& order,
                                   ChunkTable& table) {
  return ExtensibleArray(file, address, order, table).read();
}

}  // namespace ridgeline::loader
