// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "workload/synthetic/virtual_clock.hpp"

namespace ridgeline::workload {

/// Lets lanes on threads of their own share one virtual time: the clock moves to the earliest end of a step only when
/// every lane that is under way is inside a step (conservative discrete-event simulation). A lane that does not come
/// back within a few real milliseconds is no longer waited for. Thread-safe.
class LaneTimeline {
 public:
  LaneTimeline(const VirtualClock& clock, int lanes) : clock_(clock), lanes_(static_cast<std::size_t>(lanes)) {}

  /// Returns once virtual time has reached the end of a step of `duration` that starts now.
  void pass(int lane, base::Nanoseconds duration);

 private:
  using RealTime = std::chrono::steady_clock;
  struct Lane {
    bool stepping = false;
    base::Nanoseconds end{};
    RealTime::time_point awaited_until{};
    std::thread::id thread;
  };
  /// Whether `lane` may finish now; else when to look again.
  [[nodiscard]] bool may_finish(std::size_t lane, RealTime::time_point now, RealTime::time_point& look_again) const;

  const VirtualClock& clock_;
  std::mutex mutex_;  ///< guards all below
  std::condition_variable changed_;
  std::vector<Lane> lanes_;
};

}  // namespace ridgeline::workload
