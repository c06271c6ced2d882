// SPDX-License-Identifier: Apache-2.0
#include "stream/wake_event.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace ridgeline::stream {
namespace {

constexpr int kLookMs = 50;

}  // namespace

WakeEvent::WakeEvent() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WakeEvent::~WakeEvent() {
  if (event_ >= 0) ::close(event_);
}

void WakeEvent::set() noexcept {
  set_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

// True: the descriptor has something.
bool WakeEvent::wait(int fd, int timeout_ms) const noexcept {
  // A descriptor below 0 is passed over.
  std::array<pollfd, 2> waited{pollfd{event_, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
  if (event_ < 0) timeout_ms = timeout_ms < 0 ? kLookMs : std::min(timeout_ms, kLookMs);
  return ::poll(waited.data(), waited.size(), timeout_ms) > 0 && waited[1].revents != 0;
}

bool WakeEvent::wait_readable(int fd) const noexcept {
  while (!is_set())
    if (wait(fd, -1)) return !is_set();
  return false;
}

bool WakeEvent::sleep_for(std::chrono::nanoseconds duration) const noexcept {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + duration;
  while (!is_set()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return true;
    static_cast<void>(wait(-1, static_cast<int>(std::min<std::int64_t>(left, 60'000))));
  }
  return false;
}

}  // namespace ridgeline::stream
