// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "loader/chunk_index.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::loader {

/// Pieces of a chunk index, by addresses as the file writes them (from the end of the user block).
class IndexFile {
 public:
  IndexFile(const ByteSource& file, const HeaderPlace& place) : file_(file), place_(place) {}

  /// `bytes` at `address`; `what` names the piece in errors. Errors: corrupt (beyond the file), io.
  [[nodiscard]] base::Result<std::vector<std::byte>> read(std::uint64_t address, std::uint64_t bytes,
                                                          std::string_view what) const;
  /// The same with four bytes more, a checksum, which must be right. It is not among the bytes returned.
  [[nodiscard]] base::Result<std::vector<std::byte>> read_checked(std::uint64_t address, std::uint64_t bytes,
                                                                  std::string_view what) const;
  /// Bytes of an address, and of a length, in this file.
  [[nodiscard]] unsigned address_bytes() const noexcept { return place_.address_bytes; }
  [[nodiscard]] unsigned length_bytes() const noexcept { return place_.length_bytes; }

 private:
  const ByteSource& file_;
  const HeaderPlace& place_;
};

}  // namespace ridgeline::loader
