// SPDX-License-Identifier: Apache-2.0
#include "loader/superblock.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace ridgeline::loader {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::array<unsigned char, 8> kSignature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
constexpr std::uint64_t kFirstUserBlock = 512;
/// Versions 0 and 1 have sizes, B-tree parameters and flags before the addresses, versions 2 and 3 sizes and flags
/// only.
constexpr std::size_t kOldAddresses = 24;
constexpr std::size_t kIndexedAddresses = 28;
constexpr std::size_t kNewAddresses = 12;
constexpr std::size_t kOldAddressBytesAt = 13;
constexpr std::size_t kNewAddressBytesAt = 9;
constexpr unsigned kLatestVersion = 3;
constexpr unsigned kLastBelieved = 15;  // more are damage, not a future
constexpr std::uint64_t kDriverBytes = 512;
constexpr std::size_t kEndOfFile = 2;  ///< behind the base address and another one, in every version

bool has_signature(const ByteSource& file, std::uint64_t offset) {
  std::array<std::byte, kSignature.size()> found{};
  if (!file.read(offset, found)) return false;
  return std::equal(found.begin(), found.end(), kSignature.begin(),
                    [](std::byte a, unsigned char b) { return static_cast<unsigned char>(a) == b; });
}

std::optional<std::uint64_t> number(const ByteSource& file, std::uint64_t offset, std::size_t bytes) {
  std::array<std::byte, 8> found{};
  if (bytes == 0 || bytes > found.size() || !file.read(offset, std::span(found).first(bytes))) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<std::uint64_t>(found[i]);
  return value;
}

std::optional<std::uint64_t> end_of_file(const ByteSource& file, std::uint64_t begin) {
  const auto version = number(file, begin + kSignature.size(), 1);
  if (!version || *version > 3) return std::nullopt;
  const bool old = *version < 2;
  const auto addresses = *version == 0 ? kOldAddresses : *version == 1 ? kIndexedAddresses : kNewAddresses;
  const auto bytes = number(file, begin + (old ? kOldAddressBytesAt : kNewAddressBytesAt), 1);
  if (!bytes) return std::nullopt;
  return number(file, begin + addresses + kEndOfFile * *bytes, static_cast<std::size_t>(*bytes));
}

/// Drivers that spread one HDF5 file over several write their names near the superblock: into a block that an address
/// of versions 0 and 1 leads to (the last of four), or the extension of versions 2 and 3 (the second).
bool is_in_parts(const ByteSource& file, std::uint64_t begin, unsigned version) {
  if (version > 3) return false;
  const bool old = version < 2;
  const auto addresses = version == 0 ? kOldAddresses : version == 1 ? kIndexedAddresses : kNewAddresses;
  const auto bytes = number(file, begin + (old ? kOldAddressBytesAt : kNewAddressBytesAt), 1);
  if (!bytes) return false;
  const auto place = number(file, begin + addresses + (old ? 3 : 1) * *bytes, static_cast<std::size_t>(*bytes));
  if (!place || *place > file.size() || begin > file.size() - *place) return false;
  std::string block(static_cast<std::size_t>(std::min<std::uint64_t>(kDriverBytes, file.size() - begin - *place)),
                    '\0');
  if (!file.read(begin + *place, std::as_writable_bytes(std::span(block)))) return false;
  return block.find("NCSAfami") != std::string::npos || block.find("NCSAmult") != std::string::npos;
}

bool in_use(std::string_view reason) {
  return reason.find("unable to lock file") != std::string_view::npos ||
         reason.find("already open") != std::string_view::npos;
}

}  // namespace

std::optional<Superblock> find_superblock(const ByteSource& file) {
  for (std::uint64_t at = 0; at + kSignature.size() <= file.size(); at = at == 0 ? kFirstUserBlock : at * 2)
    if (has_signature(file, at)) {
      const auto version = static_cast<unsigned>(number(file, at + kSignature.size(), 1).value_or(0));
      return Superblock{at, version, end_of_file(file, at), is_in_parts(file, at, version)};
    }
  return std::nullopt;
}

Error refused_file(const ByteSource& file, const std::string& reason, const std::string& library_version) {
  const auto size = file.size();
  if (size == 0) return {ErrorCode::corrupt, "is empty: expected an HDF5 file"};
  const auto superblock = find_superblock(file);
  if (!superblock)
    return {ErrorCode::corrupt,
            fmt::format("is no HDF5 file: it does not begin with the HDF5 signature ({} bytes)", size),
            "name a file that h5py or another HDF5 library wrote"};
  if (superblock->in_parts)
    return {ErrorCode::unsupported,
            "is one of several files that make one HDF5 file together (family or split driver): expected a single file",
            "join them: h5repart for a family, else open them in h5py with their driver and copy the datasets"};
  if (superblock->version > kLatestVersion && superblock->version <= kLastBelieved)
    return {ErrorCode::unsupported,
            fmt::format("has a superblock of version {}, newer than HDF5 {} reads, which is used here",
                        superblock->version, library_version),
            "write it again in an older format, in h5py with File(..., libver=(\"earliest\", \"v110\"))"};
  if (superblock->end_of_file && *superblock->end_of_file > size)
    return {ErrorCode::corrupt, fmt::format("is cut off: {} bytes of {}", size, *superblock->end_of_file),
            "copy it again, or let its writer close it"};
  if (in_use(reason))
    return {ErrorCode::corrupt, fmt::format("cannot be opened as HDF5 ({} bytes): {}", size, reason),
            "close it where it is written to"};
  return {ErrorCode::corrupt, fmt::format("its header is damaged ({} bytes): {}", size, reason),
          "copy it again, or create it anew"};
}

}  // namespace ridgeline::loader
