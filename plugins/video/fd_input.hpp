// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ffmpeg.hpp"
#include "stop_signal.hpp"

namespace ridgeline::video_plugin {

/// FFmpeg's way to read from a file descriptor that the caller has opened: a regular file can seek, a pipe waits so
/// that it can be interrupted (FFmpeg's own pipes cannot). The descriptor stays the caller's.
class FdInput {
 public:
  FdInput(int fd, const StopSignal& stop);
  FdInput(const FdInput&) = delete;
  FdInput& operator=(const FdInput&) = delete;
  ~FdInput();
  [[nodiscard]] AVIOContext* context() noexcept { return context_; }

 private:
  static int read(void* self, std::uint8_t* bytes, int size);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  int fd_;
  const StopSignal& stop_;
  bool is_file_ = false;
  AVIOContext* context_ = nullptr;
};

}  // namespace ridgeline::video_plugin
