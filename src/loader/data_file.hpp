// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/error.hpp"

namespace ridgeline::loader {

/// What tells one state of a file from another; a layout is only good for the state it was read from.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< since the epoch
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// What reading cost; filled by the thread that reads.
struct ReadTally {
  std::uint64_t bytes = 0;
  std::uint64_t cold_bytes = 0;  ///< of these, bytes whose read had to wait for the device
};

/// Bytes at an offset: a file, or memory in tests.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` or fails: corrupt when the source ends before, io when the system refuses.
  [[nodiscard]] virtual base::Result<void> read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
};

/// A file open for reading. All reads are positional, so one object serves every thread.
class DataFile final : public ByteSource {
 public:
  /// Errors: not_found, io, invalid_argument (not a regular file).
  [[nodiscard]] static base::Result<DataFile> open(const std::filesystem::path& path);
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&&) = delete;
  ~DataFile() override;

  [[nodiscard]] base::Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override;
  /// The same into several places; `parts` is used up. Tells bytes that lay in the page cache from those that did not
  /// (preadv2 with RWF_NOWAIT first, where the file system offers it).
  [[nodiscard]] base::Result<void> read(std::uint64_t offset, std::span<iovec> parts, ReadTally& tally) const;

  [[nodiscard]] std::uint64_t size() const noexcept override { return identity_.bytes; }
  [[nodiscard]] const FileIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return fd_; }
  /// False once the file system has refused to tell cold reads; cold_bytes are then not counted.
  [[nodiscard]] bool tells_cold_reads() const noexcept { return tells_cold_.load(std::memory_order_relaxed); }

 private:
  DataFile(std::filesystem::path path, int fd, FileIdentity identity)
      : path_(std::move(path)), fd_(fd), identity_(identity) {}
  std::filesystem::path path_;
  int fd_ = -1;
  FileIdentity identity_;
  mutable std::atomic<bool> tells_cold_{true};
};

}  // namespace ridgeline::loader
