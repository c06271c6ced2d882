// SPDX-License-Identifier: Apache-2.0
#include "loader/data_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// Drops `count` read bytes from the front of `parts`; empty parts go as well.
std::span<iovec> drop_front(std::span<iovec> parts, std::size_t count) {
  while (!parts.empty() && count >= parts.front().iov_len) {
    count -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + count;
    parts.front().iov_len -= count;
  }
  return parts;
}

}  // namespace

Result<DataFile> DataFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io, "cannot open {}: {}", path.string(),
                std::strerror(errno));
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::invalid_argument, "{} is not a regular file: expected an HDF5 file", path.string());
  }
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.bytes = static_cast<std::uint64_t>(status.st_size);
  identity.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return DataFile(path, fd, identity);
}

DataFile::DataFile(DataFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      identity_(other.identity_),
      tells_cold_(other.tells_cold_.load()) {}

DataFile::~DataFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> DataFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  iovec part{out.data(), out.size()};
  ReadTally tally;
  return read(offset, {&part, 1}, tally);
}

Result<void> DataFile::read(std::uint64_t offset, std::span<iovec> parts, ReadTally& tally) const {
  bool may_wait = !tells_cold_reads();
  parts = drop_front(parts, 0);
  while (!parts.empty()) {
    const auto at = static_cast<off_t>(offset);
    const auto number = static_cast<int>(parts.size());
    const auto got = ::preadv2(fd_, parts.data(), number, at, may_wait ? 0 : RWF_NOWAIT);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (!may_wait) {
        if (errno != EAGAIN) tells_cold_.store(false, std::memory_order_relaxed);
        may_wait = true;
        continue;
      }
      return fail(ErrorCode::io, "cannot read {} at {}: {}", path_.string(), offset, std::strerror(errno));
    }
    if (got == 0) {
      if (!may_wait) {  // some file systems end a read that would wait with 0
        may_wait = true;
        continue;
      }
      return fail(ErrorCode::corrupt, "{} ends before byte {}: it is cut off or being rewritten", path_.string(),
                  offset)
          .hint("copy it again, or wait until its writer has closed it");
    }
    const auto count = static_cast<std::size_t>(got);
    tally.bytes += count;
    if (may_wait && tells_cold_reads()) tally.cold_bytes += count;
    offset += count;
    parts = drop_front(parts, count);
    may_wait = !parts.empty();  // a short read stopped at a page that is not there
  }
  return {};
}

}  // namespace ridgeline::loader
