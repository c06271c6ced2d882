// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tracefile/block_format.hpp"
#include "tracefile/column_writer.hpp"
#include "tracefile/device.hpp"
#include "tracefile/gpu_sample.hpp"
#include "tracefile/table_columns.hpp"
#include "tracefile/varint.hpp"

namespace ridgeline::trace {

/// A trace file that grows block by block. What was appended is in the file: a program that is killed loses only what
/// came after it.
class BlockFile {
 public:
  /// Makes the file, or empties the one that is there. Errors: not_found (the folder), io.
  [[nodiscard]] static base::Result<BlockFile> create(const std::string& path);
  ~BlockFile();
  BlockFile(BlockFile&& other) noexcept;
  BlockFile& operator=(BlockFile&&) = delete;

  /// Items [from, to): `put(plain, i)` appends one. Errors: io, and so below.
  template <typename Put>
  [[nodiscard]] base::Result<void> append_items(BlockKind kind, std::size_t from, std::size_t to, Put put) {
    while (from < to) {
      plain_.clear();
      auto next = from;
      while (next < to && plain_.size() < kEnoughBytes) put(plain_, next++);
      std::string block;
      put_varint(block, next - from);
      RL_TRY(write(make_block(kind, block + plain_)));
      from = next;
    }
    return {};
  }
  /// Rows [from, to) of a table.
  template <typename Rows>
  [[nodiscard]] base::Result<void> append_rows(BlockKind kind, const Rows& table, std::size_t from, std::size_t to) {
    while (from < to) {
      const auto next = std::min(to, from + kMostBlockEvents);
      plain_.clear();
      put_varint(plain_, next - from);
      ColumnWriter columns(plain_, from, next);
      code_columns(columns, table);
      RL_TRY(write(make_block(kind, plain_)));
      events_ += next - from;
      from = next;
    }
    return {};
  }
  /// Marks the trace as complete; to be called once, as the last.
  [[nodiscard]] base::Result<void> finish();

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  BlockFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] base::Result<void> write(std::string_view bytes);

  int fd_ = -1;
  std::string path_;
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
  std::string plain_;  ///< of the block that is made
};

/// At most kEnoughBytes of a text, whole characters of UTF-8.
[[nodiscard]] std::string_view cut_text(std::string_view text);

/// As files have them.
void put_item(std::string& out, const GpuLane& lane);
void put_item(std::string& out, const ThreadLane& lane);
void put_item(std::string& out, const Device& device);
void put_item(std::string& out, const GraphNode& node);
void put_item(std::string& out, const GpuSample& sample);

}  // namespace ridgeline::trace
