// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

#include "ffmpeg.hpp"

namespace ridgeline::video_plugin {

/// Why waiting ends: somebody interrupts, from any thread, or the time limit of the call passes. FFmpeg asks it about
/// every 100 ms while it waits for the network; what we wait for ourselves wakes at once.
class StopSignal {
 public:
  StopSignal();  ///< throws Refusal where the system has no file descriptors left
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  void interrupt() noexcept;
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_.load(std::memory_order_relaxed); }

  /// 0: no limit.
  void start_limit(std::chrono::nanoseconds limit) noexcept;
  [[nodiscard]] std::chrono::nanoseconds limit() const noexcept { return limit_; }
  [[nodiscard]] bool expired() const noexcept;
  [[nodiscard]] bool should_stop() const noexcept { return interrupted() || expired(); }

  /// Until `fd` can be read; false: stopped. -1: until `most` has passed, then true.
  [[nodiscard]] bool wait_readable(int fd, std::chrono::milliseconds most) const noexcept;

  /// For AVFormatContext; the signal must outlive it.
  [[nodiscard]] AVIOInterruptCB callback() noexcept;

 private:
  std::atomic<bool> interrupted_{false};
  std::chrono::nanoseconds limit_{0};
  std::chrono::steady_clock::time_point deadline_;
  int wake_ = -1;
};

}  // namespace ridgeline::video_plugin
