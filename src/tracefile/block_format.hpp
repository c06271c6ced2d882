// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline::trace {

// A trace file (.rltrace): kTraceMagic, the version (4 bytes), then blocks. A block is its header (encode_header) and
// its bytes, packed by zlib. Numbers of fixed size have their lowest byte first. What a block refers to (names, lanes)
// is defined by blocks before it, so that any number of whole blocks from the first on is a trace.

/// No text, and damaged by whatever takes it for text.
inline constexpr std::string_view kTraceMagic = "\x89RLT\r\n\x1a\n";
/// 2: notes are JSON of schema::Message. Of 1, which is read too, they are text.
inline constexpr std::uint32_t kTraceVersion = 2;
inline constexpr std::size_t kTraceHeaderBytes = 12;

/// Of a block: unpacked, and as it lies in the file. Nothing larger is written, nor believed.
inline constexpr std::size_t kMostPlainBytes = 4 << 20;
inline constexpr std::size_t kMostStoredBytes = kMostPlainBytes + kMostPlainBytes / 1000 + 64;
/// 32,768 kernels have at most 2.9 MB.
inline constexpr std::size_t kMostBlockEvents = 32'768;
/// Blocks of names and the like end behind so many bytes; a longer text is cut.
inline constexpr std::size_t kEnoughBytes = 1 << 20;

/// As files have them, so that another kind comes last.
enum class BlockKind : std::uint8_t {
  strings,
  gpu_lanes,
  thread_lanes,
  devices,
  notes,
  kernels,
  copies,
  sets,
  syncs,
  calls,
  ranges,
  nodes,
  end,  ///< the trace is complete
  allocations,
  bandwidths,  ///< of devices, those of which it is known
  graph_nodes,
  counted,
  gpu_samples,
};
inline constexpr std::size_t kBlockKinds = static_cast<std::size_t>(BlockKind::gpu_samples) + 1;

struct BlockHeader {
  BlockKind kind = BlockKind::end;
  std::uint32_t stored_bytes = 0;
  std::uint32_t plain_bytes = 0;
  std::uint32_t checksum = 0;  ///< CRC-32 of the header's bytes before it and of the block's as they are stored
};
inline constexpr std::size_t kBlockHeaderBytes = 13;
/// Of the header: what the checksum is of.
inline constexpr std::size_t kCheckedHeaderBytes = 9;

inline void put_u32(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}
[[nodiscard]] inline std::uint32_t get_u32(const char* bytes) noexcept {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

/// A whole block, header and all.
[[nodiscard]] std::string make_block(BlockKind kind, std::string_view plain);
/// Of a block's bytes as they lie in the file, which begin with its header.
[[nodiscard]] std::uint32_t block_checksum(std::string_view checked_header, std::string_view stored) noexcept;

}  // namespace ridgeline::trace
