// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"

struct gzFile_s;

namespace ridgeline::trace {

/// The bytes of a plain or gzip file, once from begin to end, through a small buffer, which small files can afford.
class FileBytes {
 public:
  /// Errors: io.
  [[nodiscard]] static base::Result<FileBytes> open(const std::string& path);

  /// The next byte; -1 at the end, which a file that cannot be read further has too.
  [[nodiscard]] int next() {
    if (at_ == end_ && !refill()) return -1;
    return buffer_[at_++];
  }
  /// False where there are no more `count` bytes.
  [[nodiscard]] bool read(void* into, std::size_t count);
  /// The same into a text, which grows by what is there rather than by what was promised.
  [[nodiscard]] bool read(std::string& into, std::size_t count);
  /// Bytes that were taken.
  [[nodiscard]] std::uint64_t offset() const noexcept { return before_ + at_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  explicit FileBytes(gzFile_s* file);
  bool refill();

  std::unique_ptr<gzFile_s, Close> file_;
  std::unique_ptr<unsigned char[]> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t before_ = 0;  ///< of the file, before the buffer
};

}  // namespace ridgeline::trace
