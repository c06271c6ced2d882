// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

namespace ridgeline::stream {

/// Ends waiting from any thread, once and for good.
class WakeEvent {
 public:
  WakeEvent();
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;
  ~WakeEvent();

  void set() noexcept;
  [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }
  /// Until `fd` can be read or is at its end; false: set.
  [[nodiscard]] bool wait_readable(int fd) const noexcept;
  /// That long; false: set.
  [[nodiscard]] bool sleep_for(std::chrono::nanoseconds duration) const noexcept;

 private:
  [[nodiscard]] bool wait(int fd, int timeout_ms) const noexcept;
  std::atomic<bool> set_{false};
  int event_;  ///< -1 where the system has no descriptor left: waiting then looks at `set_` now and then
};

}  // namespace ridgeline::stream
