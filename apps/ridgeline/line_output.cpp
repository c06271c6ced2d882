// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/line_output.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace ridgeline::app {

base::Result<LineOutput> LineOutput::open(const std::string& file) {
  if (file.empty()) return LineOutput(nullptr, "", false);
  // A reader that leaves shows as an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
  std::FILE* opened = file == "-" ? stdout : std::fopen(file.c_str(), "w");
  if (opened == nullptr)
    return base::fail(base::ErrorCode::io, "--output {}: {}", file, std::strerror(errno)).hint("choose another file");
  struct stat info {};
  const bool is_file = ::fstat(::fileno(opened), &info) == 0 && S_ISREG(info.st_mode);
  return LineOutput(opened, file == "-" ? "standard output" : file, !is_file);
}

LineOutput::LineOutput(LineOutput&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)), name_(std::move(other.name_)), at_once_(other.at_once_) {}

LineOutput::~LineOutput() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

base::Fault LineOutput::fault() const {
  if (errno == EPIPE) return base::fail(base::ErrorCode::io, "{}: its reader is gone", name_);
  auto fault = base::fail(base::ErrorCode::io, "{}: {}", name_, std::strerror(errno));
  return errno == ENOSPC ? std::move(fault).hint("free some space, or name another file") : fault;
}

base::Result<void> LineOutput::write(const std::string& line) {
  if (file_ == nullptr) return {};
  errno = 0;
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fputc('\n', file_) == EOF) return fault();
  if (at_once_ && std::fflush(file_) != 0) return fault();
  return {};
}

base::Result<void> LineOutput::finish() {
  if (file_ == nullptr) return {};
  errno = 0;
  if (std::fflush(file_) != 0) return fault();
  return {};
}

}  // namespace ridgeline::app
