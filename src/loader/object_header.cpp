// SPDX-License-Identifier: Apache-2.0
#include "loader/object_header.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr unsigned kLayoutMessage = 0x08;
constexpr unsigned kContinuationMessage = 0x10;
constexpr std::size_t kMaxBlocks = 4096;
constexpr std::uint64_t kMaxBlockBytes = 64U << 20U;

struct Block {
  std::uint64_t address;  ///< relative to the base
  std::uint64_t bytes;
};

struct MessageFormat {
  bool version_2 = false;
  bool creation_order = false;
  unsigned address_bytes = 8;
  unsigned length_bytes = 8;
};

Result<std::vector<std::byte>> read_block(const ByteSource& file, std::uint64_t base, const Block& block) {
  if (block.bytes > kMaxBlockBytes || block.address > file.size() || base + block.address > file.size() ||
      block.bytes > file.size() - base - block.address)
    return fail(ErrorCode::corrupt, "an object header block ({} bytes at {}) reaches beyond the file", block.bytes,
                block.address);
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.bytes));
  RL_TRY(file.read(base + block.address, bytes));
  return bytes;
}

/// Looks through one block's messages for the layout; continuation blocks go to `more`.
Result<std::optional<std::span<const std::byte>>> search_block(std::span<const std::byte> bytes,
                                                               const MessageFormat& format, std::deque<Block>& more) {
  FieldReader in(bytes);
  const std::size_t smallest = format.version_2 ? (format.creation_order ? 6 : 4) : 8;
  while (in.left() >= smallest) {
    const auto type = in.number(format.version_2 ? 1 : 2);
    const auto size = static_cast<std::size_t>(in.number(2));
    in.skip(format.version_2 ? (format.creation_order ? 3 : 1) : 4);  // flags, creation order or reserved
    if (size > in.left())
      return fail(ErrorCode::corrupt, "an object header message of {} bytes reaches beyond its block", size);
    const auto data = in.rest().first(size);
    if (type == kLayoutMessage) return data;
    if (type == kContinuationMessage) {
      FieldReader fields(data);
      const auto address = fields.number(format.address_bytes);
      const auto length = fields.number(format.length_bytes);
      if (!fields.good()) return fail(ErrorCode::corrupt, "a continuation message of {} bytes", size);
      more.push_back({address, length});
    }
    in.skip(size);
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t FieldReader::number(unsigned width) noexcept {
  if (bytes_.size() < width) {
    good_ = false;
    bytes_ = {};
    return 0;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
  bytes_ = bytes_.subspan(width);
  return value;
}

std::uint64_t FieldReader::address(unsigned width) noexcept {
  const auto value = number(width);
  const auto undefined = width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1;
  return value == undefined ? ChunkEntry::kMissing : value;
}

void FieldReader::skip(std::size_t count) noexcept {
  if (count > bytes_.size()) good_ = false;
  bytes_ = bytes_.subspan(std::min(count, bytes_.size()));
}

bool FieldReader::signature(const char (&text)[5]) noexcept {
  if (bytes_.size() < 4 || std::memcmp(bytes_.data(), text, 4) != 0) return false;
  bytes_ = bytes_.subspan(4);
  return true;
}

Result<std::vector<std::byte>> read_layout_message(const ByteSource& file, const HeaderPlace& place) {
  constexpr std::size_t kLongestPrefix = 34;
  constexpr std::uint64_t kChecksum = 4;
  if (place.header > file.size() || place.base > file.size() - place.header)
    return fail(ErrorCode::corrupt, "an object header at {} beyond the file", place.header);
  const auto prefix_bytes = std::min<std::uint64_t>(kLongestPrefix, file.size() - place.base - place.header);
  RL_TRY_ASSIGN(const auto prefix, read_block(file, place.base, {place.header, prefix_bytes}));
  FieldReader in(prefix);
  MessageFormat format{false, false, place.address_bytes, place.length_bytes};
  std::deque<Block> blocks;
  if (in.signature("OHDR")) {
    format.version_2 = true;
    const auto version = in.number(1);
    const auto flags = in.number(1);
    if (version != 2) return fail(ErrorCode::corrupt, "an object header of version {}, expected 2", version);
    format.creation_order = (flags & 4U) != 0;
    if ((flags & 0x20U) != 0) in.skip(16);
    if ((flags & 0x10U) != 0) in.skip(4);
    const auto bytes = in.number(1U << (flags & 3U));
    blocks.push_back({place.header + (prefix.size() - in.left()), bytes});
  } else {
    const auto version = in.number(1);
    if (version != 1) return fail(ErrorCode::corrupt, "no object header at {}", place.header);
    in.skip(7);
    blocks.push_back({place.header + 16, in.number(4)});
  }
  if (!in.good()) return fail(ErrorCode::corrupt, "the object header at {} is cut off", place.header);
  for (std::size_t seen = 0; !blocks.empty(); ++seen) {
    if (seen == kMaxBlocks)
      return fail(ErrorCode::corrupt, "the object header at {} goes round in circles", place.header);
    auto block = blocks.front();
    blocks.pop_front();
    if (seen > 0 && format.version_2) {  // "OCHK" before, a checksum after the messages
      if (block.bytes < 4 + kChecksum)
        return fail(ErrorCode::corrupt, "a header continuation of {} bytes", block.bytes);
      block.address += 4;
      block.bytes -= 4 + kChecksum;
    }
    RL_TRY_ASSIGN(const auto bytes, read_block(file, place.base, block));
    RL_TRY_ASSIGN(const auto found, search_block(bytes, format, blocks));
    if (found) return std::vector<std::byte>(found->begin(), found->end());
  }
  return fail(ErrorCode::corrupt, "the object header at {} has no layout message", place.header);
}

}  // namespace ridgeline::loader
