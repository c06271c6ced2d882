// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "trace/import/file_bytes.hpp"
#include "tracefile/block_format.hpp"

namespace ridgeline::trace {

/// The blocks of a trace file, one after the other. Holds one of them at a time, whatever the file claims of its size.
class BlockReader {
 public:
  /// Errors: io; corrupt where it is no trace file; unsupported where a newer version wrote it.
  [[nodiscard]] static base::Result<BlockReader> open(const std::string& path);

  struct Block {
    BlockKind kind = BlockKind::end;
    std::string_view bytes;  ///< unpacked; valid until the next call
  };
  /// nullopt: there is no other whole block.
  [[nodiscard]] std::optional<Block> next();
  /// Why there is none: bytes that no writer leaves behind, rather than an end.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

 private:
  explicit BlockReader(FileBytes file) : file_(std::move(file)) {}

  FileBytes file_;
  std::string stored_;
  std::string plain_;
  bool damaged_ = false;
};

}  // namespace ridgeline::trace
