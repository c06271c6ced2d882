// SPDX-License-Identifier: Apache-2.0
#include "fd_input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace ridgeline::video_plugin {
namespace {

constexpr int kBufferBytes = 64 << 10;  // what a pipe holds

}  // namespace

FdInput::FdInput(int fd, const StopSignal& stop) : fd_(fd), stop_(stop) {
  struct stat status {};
  is_file_ = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  auto* const buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer != nullptr)
    context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, is_file_ ? seek : nullptr);
  if (context_ == nullptr) {
    av_free(buffer);
    throw std::bad_alloc();
  }
}

FdInput::~FdInput() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int FdInput::read(void* self, std::uint8_t* bytes, int size) {
  const auto& input = *static_cast<FdInput*>(self);
  for (;;) {
    if (input.is_file_ ? input.stop_.should_stop() : !input.stop_.wait_readable(input.fd_, {})) return AVERROR_EXIT;
    const auto got = ::read(input.fd_, bytes, static_cast<std::size_t>(size));
    if (got > 0) return static_cast<int>(got);
    if (got == 0) return AVERROR_EOF;
    if (errno != EINTR && errno != EAGAIN) return AVERROR(errno);
  }
}

std::int64_t FdInput::seek(void* self, std::int64_t offset, int whence) {
  const auto& input = *static_cast<FdInput*>(self);
  if ((whence & AVSEEK_SIZE) != 0) {
    struct stat status {};
    return ::fstat(input.fd_, &status) == 0 ? status.st_size : AVERROR(errno);
  }
  const auto at = ::lseek(input.fd_, offset, whence & ~AVSEEK_FORCE);
  return at < 0 ? AVERROR(errno) : at;
}

}  // namespace ridgeline::video_plugin
