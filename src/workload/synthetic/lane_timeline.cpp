// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/lane_timeline.hpp"

#include <algorithm>

namespace ridgeline::workload {
namespace {

constexpr auto kFirstStepGrace = std::chrono::milliseconds(20);  ///< for the threads of a measurement to start
constexpr auto kNextStepGrace = std::chrono::milliseconds(3);    ///< between two steps of a lane

}  // namespace

void LaneTimeline::pass(int lane, base::Nanoseconds duration) {
  if (lanes_.size() == 1) {
    clock_.advance_to(clock_.now() + duration);
    return;
  }
  const auto index = static_cast<std::size_t>(lane);
  std::unique_lock lock(mutex_);
  auto& mine = lanes_[index];
  if (mine.thread != std::this_thread::get_id()) {  // a new set of threads: the others are on their way
    mine.thread = std::this_thread::get_id();
    for (auto& other : lanes_) other.awaited_until = RealTime::now() + kFirstStepGrace;
  }
  mine.stepping = true;
  mine.end = clock_.now() + duration;
  changed_.notify_all();
  for (;;) {
    const auto now = RealTime::now();
    auto look_again = now + kFirstStepGrace;
    if (may_finish(index, now, look_again)) break;
    changed_.wait_until(lock, look_again);
  }
  clock_.advance_to(mine.end);
  mine.stepping = false;
  mine.awaited_until = RealTime::now() + kNextStepGrace;
  changed_.notify_all();
}

bool LaneTimeline::may_finish(std::size_t lane, RealTime::time_point now, RealTime::time_point& look_again) const {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i == lane) continue;
    const auto& other = lanes_[i];
    if (other.stepping) {
      if (other.end < lanes_[lane].end || (other.end == lanes_[lane].end && i < lane)) return false;
    } else if (other.awaited_until > now) {
      look_again = std::min(look_again, other.awaited_until);
      return false;
    }
  }
  return true;
}

}  // namespace ridgeline::workload
