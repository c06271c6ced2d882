// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "loader/chunk_index.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::loader {

/// Little-endian fields from a piece of a file; reading past the end gives 0 and turns good() false.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// `width` bytes, 1 to 8.
  std::uint64_t number(unsigned width) noexcept;
  /// A file address of `width` bytes; all ones (undefined) becomes ChunkEntry::kMissing.
  std::uint64_t address(unsigned width) noexcept;
  void skip(std::size_t count) noexcept;
  /// True, and skipped, when these characters come next.
  bool signature(const char (&text)[5]) noexcept;
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return bytes_; }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

/// The data of the layout message (type 8) of the object header at `place`, versions 1 and 2, through continuation
/// blocks. Errors: corrupt.
[[nodiscard]] base::Result<std::vector<std::byte>> read_layout_message(const ByteSource& file,
                                                                       const HeaderPlace& place);

}  // namespace ridgeline::loader
