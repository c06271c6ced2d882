// SPDX-License-Identifier: Apache-2.0
#include "execute/output_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "execute/drain_pipe.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::size_t kLogReadLimit = std::size_t{4} << 20U;

}  // namespace

OutputLog::~OutputLog() {
  if (fd_ >= 0) ::close(fd_);
}

base::Result<void> OutputLog::open(const std::filesystem::path& path) {
  path_ = path;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) return base::fail(base::ErrorCode::io, "cannot write {}: {}", path.string(), std::strerror(errno));
  return {};
}

bool OutputLog::drain(int fd) {
  return drain_pipe(fd, kLogReadLimit, [this](std::string_view piece) { append(piece); });
}

void OutputLog::append(std::string_view piece) {
  const auto room = bytes_ < kHead ? static_cast<std::size_t>(kHead - bytes_) : 0;
  bytes_ += piece.size();
  write(piece.substr(0, room));
  if (piece.size() <= room) return;
  tail_ += piece.substr(room);
  if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
}

void OutputLog::write(std::string_view piece) {
  while (!piece.empty() && error_ == 0) {
    const auto done = ::write(fd_, piece.data(), piece.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0)
      error_ = errno;
    else
      piece.remove_prefix(static_cast<std::size_t>(done));
  }
}

base::Result<void> OutputLog::close() {
  if (fd_ < 0) return {};
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  if (left_out() > 0) write(fmt::format("\n[... {} bytes are left out here ...]\n", left_out()));
  write(tail_);
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  if (error_ == 0 && !closed) error_ = errno;
  if (error_ != 0) return base::fail(base::ErrorCode::io, "cannot write {}: {}", path_.string(), std::strerror(error_));
  return {};
}

}  // namespace ridgeline::execute
