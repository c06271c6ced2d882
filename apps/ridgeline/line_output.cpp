// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/line_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace ridgeline::app {
namespace {

constexpr int kFileMode = 0666;

}  // namespace

base::Result<LineOutput> LineOutput::open(const std::string& file, const char* option) {
  if (file.empty()) return LineOutput(-1, "");
  // A reader that leaves shows as an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
  if (file == "-") return LineOutput(STDOUT_FILENO, "standard output");
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (fd < 0)
    return base::fail(base::ErrorCode::io, "{} {}: {}", option, file, std::strerror(errno)).hint("choose another file");
  return LineOutput(fd, file);
}

LineOutput::LineOutput(LineOutput&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)), whole_(other.whole_) {}

LineOutput::~LineOutput() { (void)finish(); }

base::Fault LineOutput::fault() const {
  if (errno == EPIPE) return base::fail(base::ErrorCode::io, "{}: the reader has gone away", name_);
  auto fault = base::fail(base::ErrorCode::io, "{}: {}", name_, std::strerror(errno));
  return errno == ENOSPC ? std::move(fault).hint("free some space, or choose another file") : fault;
}

base::Result<void> LineOutput::write(const std::string& line) {
  if (fd_ < 0) return {};
  line_ = line;
  line_ += '\n';
  for (std::size_t done = 0; done < line_.size();) {
    const auto wrote = ::write(fd_, line_.data() + done, line_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      auto failed = fault();
      // Standard output may have had lines of others before ours.
      if (done > 0 && fd_ != STDOUT_FILENO) (void)!::ftruncate(fd_, whole_);
      return failed;
    }
    done += static_cast<std::size_t>(wrote);
  }
  whole_ += static_cast<std::int64_t>(line_.size());
  return {};
}

base::Result<void> LineOutput::finish() {
  const int fd = std::exchange(fd_, -1);
  // A file system on a network tells only now what it could not write.
  if (fd >= 0 && fd != STDOUT_FILENO && ::close(fd) != 0) return fault();
  return {};
}

}  // namespace ridgeline::app
