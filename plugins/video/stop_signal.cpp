// SPDX-License-Identifier: Apache-2.0
#include "stop_signal.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "errors.hpp"

namespace ridgeline::video_plugin {
namespace {

using Clock = std::chrono::steady_clock;
// So that a limit is noticed soon; an interruption wakes at once.
constexpr std::chrono::milliseconds kLongestNap{100};

}  // namespace

StopSignal::StopSignal() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw Refusal(RL_VIDEO_FAILED, "no file descriptor is left");
}

StopSignal::~StopSignal() { ::close(wake_); }

void StopSignal::interrupt() noexcept {
  interrupted_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void StopSignal::start_limit(std::chrono::nanoseconds limit) noexcept {
  limit_ = limit;
  if (limit.count() > 0) deadline_ = Clock::now() + limit;
}

bool StopSignal::expired() const noexcept { return limit_.count() > 0 && Clock::now() >= deadline_; }

bool StopSignal::wait_readable(int fd, std::chrono::milliseconds most) const noexcept {
  const auto until = Clock::now() + most;
  while (!should_stop()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (fd < 0 && left.count() <= 0) return true;
    std::array<pollfd, 2> waited{pollfd{wake_, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
    const auto nap = fd < 0 ? std::min(left, kLongestNap) : kLongestNap;
    // A descriptor below 0 is passed over.
    if (::poll(waited.data(), waited.size(), static_cast<int>(nap.count())) > 0 && waited[1].revents != 0) return true;
  }
  return false;
}

AVIOInterruptCB StopSignal::callback() noexcept {
  return {[](void* self) { return static_cast<const StopSignal*>(self)->should_stop() ? 1 : 0; }, this};
}

}  // namespace ridgeline::video_plugin
