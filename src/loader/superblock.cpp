// SPDX-License-Identifier: Apache-2.0
#include "loader/superblock.hpp"

#include <algorithm>
#include <array>
#include <span>
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

bool in_use(std::string_view reason) {
  return reason.find("unable to lock file") != std::string_view::npos ||
         reason.find("already open") != std::string_view::npos;
}

}  // namespace

std::optional<Superblock> find_superblock(const ByteSource& file) {
  for (std::uint64_t at = 0; at + kSignature.size() <= file.size(); at = at == 0 ? kFirstUserBlock : at * 2)
    if (has_signature(file, at)) return Superblock{at, end_of_file(file, at)};
  return std::nullopt;
}

Error refused_file(const ByteSource& file, const std::string& reason) {
  const auto size = file.size();
  if (size == 0) return {ErrorCode::corrupt, "is empty: expected an HDF5 file"};
  const auto superblock = find_superblock(file);
  if (!superblock)
    return {ErrorCode::corrupt,
            fmt::format("is no HDF5 file: it does not begin with the HDF5 signature ({} bytes)", size),
            "name a file that h5py or another HDF5 library wrote"};
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
