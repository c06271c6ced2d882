// SPDX-License-Identifier: Apache-2.0
#include "tracefile/block_format.hpp"

#include <zlib.h>

namespace ridgeline::trace {
namespace {

constexpr int kFastest = 1;  // zlib's level; the next ones take longer for a few percent

}  // namespace

std::uint32_t block_checksum(std::string_view checked_header, std::string_view stored) noexcept {
  const auto add = [](uLong sum, std::string_view bytes) {
    return ::crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  };
  return static_cast<std::uint32_t>(add(add(0, checked_header), stored));
}

std::string make_block(BlockKind kind, std::string_view plain) {
  auto size = ::compressBound(static_cast<uLong>(plain.size()));
  std::string stored(size, '\0');
  // Fails only where there is no memory, which ends the program elsewhere too.
  ::compress2(reinterpret_cast<Bytef*>(stored.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
              static_cast<uLong>(plain.size()), kFastest);
  stored.resize(size);
  std::string block(1, static_cast<char>(kind));
  put_u32(block, static_cast<std::uint32_t>(stored.size()));
  put_u32(block, static_cast<std::uint32_t>(plain.size()));
  put_u32(block, block_checksum(block, stored));
  return block + stored;
}

}  // namespace ridgeline::trace
