// SPDX-License-Identifier: Apache-2.0
#include "loader/index_file.hpp"

#include "loader/metadata_checksum.hpp"
#include "loader/object_header.hpp"

namespace ridgeline::loader {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::vector<std::byte>> IndexFile::read(std::uint64_t address, std::uint64_t bytes,
                                               std::string_view what) const {
  const auto size = file_.size();
  if (place_.base > size || address > size - place_.base || bytes > size - place_.base - address)
    return fail(ErrorCode::corrupt, "{} ({} bytes at {}) reaches beyond the file", what, bytes, address);
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  RL_TRY(file_.read(place_.base + address, data));
  return data;
}

Result<std::vector<std::byte>> IndexFile::read_checked(std::uint64_t address, std::uint64_t bytes,
                                                       std::string_view what) const {
  constexpr std::uint64_t kMost = ~std::uint64_t{0} - kChecksumBytes;
  RL_TRY_ASSIGN(auto data, read(address, bytes > kMost ? bytes : bytes + kChecksumBytes, what));
  FieldReader in(std::span<const std::byte>(data).last(kChecksumBytes));
  const auto stored = static_cast<std::uint32_t>(in.number(kChecksumBytes));
  data.resize(data.size() - kChecksumBytes);
  if (const auto computed = metadata_checksum(data); stored != computed)
    return fail(ErrorCode::corrupt, "{} at {} is damaged: its checksum is {:08x}, its bytes give {:08x}", what, address,
                stored, computed);
  return data;
}

}  // namespace ridgeline::loader
