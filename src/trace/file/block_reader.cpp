// SPDX-License-Identifier: Apache-2.0
#include "trace/file/block_reader.hpp"

#include <zlib.h>

namespace ridgeline::trace {

using base::ErrorCode;
using base::Result;

Result<BlockReader> BlockReader::open(const std::string& path) {
  // Also reads what was packed by gzip on its way.
  RL_TRY_ASSIGN(auto file, FileBytes::open(path));
  char header[kTraceHeaderBytes];
  if (!file.read(header, sizeof header) || !std::string_view(header, sizeof header).starts_with(kTraceMagic))
    return base::fail(ErrorCode::corrupt, "{}: not a trace file of Ridgeline", path);
  if (const auto version = get_u32(header + kTraceMagic.size()); version == 0 || version > kTraceVersion)
    return base::fail(ErrorCode::unsupported, "{}: version {} of the trace file; expected {}", path, version,
                      kTraceVersion)
        .hint("upgrade Ridgeline");
  return BlockReader(std::move(file));
}

std::optional<BlockReader::Block> BlockReader::next() {
  char bytes[kBlockHeaderBytes];
  if (!file_.read(bytes, sizeof bytes)) return std::nullopt;
  BlockHeader header{static_cast<BlockKind>(bytes[0]), get_u32(bytes + 1), get_u32(bytes + 5), get_u32(bytes + 9)};
  damaged_ = true;
  if (static_cast<std::size_t>(header.kind) >= kBlockKinds || header.stored_bytes > kMostStoredBytes ||
      header.plain_bytes > kMostPlainBytes)
    return std::nullopt;
  stored_.resize(header.stored_bytes);
  if (!file_.read(stored_.data(), stored_.size())) {
    damaged_ = false;
    return std::nullopt;
  }
  if (block_checksum({bytes, kCheckedHeaderBytes}, stored_) != header.checksum) return std::nullopt;
  plain_.resize(header.plain_bytes);
  auto plain_size = static_cast<uLongf>(plain_.size());
  auto stored_size = static_cast<uLong>(stored_.size());
  if (::uncompress2(reinterpret_cast<Bytef*>(plain_.data()), &plain_size,
                    reinterpret_cast<const Bytef*>(stored_.data()), &stored_size) != Z_OK ||
      plain_size != plain_.size() || stored_size != stored_.size())
    return std::nullopt;
  damaged_ = false;
  return Block{header.kind, plain_};
}

}  // namespace ridgeline::trace
