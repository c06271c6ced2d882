// SPDX-License-Identifier: Apache-2.0
#include "campaign/watch/latency_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace ridgeline::campaign {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t kLongestLine = 64 * 1024;  // beyond it the bytes are no lines
constexpr std::size_t kPiece = 256 * 1024;

}  // namespace

LatencyFile::LatencyFile(LatencyFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      inode_(other.inode_),
      offset_(other.offset_),
      begun_(std::move(other.begun_)) {}

LatencyFile::~LatencyFile() {
  if (file_ >= 0) ::close(file_);
}

Result<void> LatencyFile::reopen() {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat found {};
  if (file < 0 || ::fstat(file, &found) != 0) {
    const int reason = errno;
    if (file >= 0) ::close(file);
    return fail(
        reason == ENOENT ? ErrorCode::not_found : ErrorCode::io,
        "latency file {}: cannot be read: {}; expected the file that the service appends its latencies to; make "
        "it, or name another with --latency-file FILE",
        path_.string(), std::strerror(reason));
  }
  if (!S_ISREG(found.st_mode)) {
    ::close(file);
    return fail(ErrorCode::io, "latency file {}: is no regular file; for a socket use --latency-socket",
                path_.string());
  }
  if (file_ >= 0) ::close(file_);
  file_ = file;
  inode_ = found.st_ino;
  offset_ = 0;
  begun_.clear();
  return {};
}

Result<LatencyFile> LatencyFile::open(std::filesystem::path path, const base::Json& position) {
  LatencyFile file(std::move(path));
  RL_TRY(file.reopen());
  struct stat found {};
  if (::fstat(file.file_, &found) != 0) found.st_size = 0;
  file.offset_ = found.st_size;
  if (!position.is_object()) return file;
  // Another file of that name, or a truncated one: all of it was written since.
  const auto offset = position.value("offset", std::int64_t{0});
  const bool same = position.value("inode", std::uint64_t{0}) == file.inode_ && offset >= 0 && offset <= found.st_size;
  file.offset_ = same ? offset : 0;
  return file;
}

Result<void> LatencyFile::read_to_end(LatencyWindow& window) {
  std::vector<char> piece(kPiece);
  for (;;) {
    const auto count = ::pread(file_, piece.data(), piece.size(), offset_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(ErrorCode::io, "latency file {}: cannot be read: {}", path_.string(), std::strerror(errno));
    if (count == 0) return {};
    offset_ += count;
    std::string_view rest(piece.data(), static_cast<std::size_t>(count));
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      begun_.append(rest.substr(0, end));
      window.add_line(begun_);
      begun_.clear();
      rest.remove_prefix(end + 1);
    }
    begun_.append(rest);
    if (begun_.size() > kLongestLine) begun_.clear();
  }
}

Result<void> LatencyFile::read(LatencyWindow& window) {
  if (file_ >= 0) {
    struct stat mine {};
    if (::fstat(file_, &mine) == 0 && mine.st_size < offset_) {  // truncated in place
      offset_ = 0;
      begun_.clear();
    }
    RL_TRY(read_to_end(window));
  }
  struct stat named {};
  const bool there = ::stat(path_.c_str(), &named) == 0;
  if (there && file_ >= 0 && named.st_ino == inode_) return {};
  // Renamed away; a new one may not have been begun yet.
  RL_TRY(reopen());
  return read_to_end(window);
}

base::Json LatencyFile::position() const {
  return {{"inode", inode_}, {"offset", offset_ - static_cast<std::int64_t>(begun_.size())}};
}

}  // namespace ridgeline::campaign
