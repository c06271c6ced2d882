// SPDX-License-Identifier: Apache-2.0
#include "measure/lane_runner.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

namespace ridgeline::measure {

base::Result<std::unique_ptr<LaneRunner>> LaneRunner::make(workload::Workload& workload, MeasureControl& control,
                                                           std::int64_t capacity) {
  const int lanes = workload.lanes();
  if (lanes < 1) return base::fail(base::ErrorCode::internal, "workload has {} lanes, expected at least 1", lanes);
  try {
    std::unique_ptr<LaneRunner> runner(new LaneRunner(workload, control, std::max<std::int64_t>(2, capacity)));
    if (!runner->virtual_time_)
      for (int lane = 1; lane < lanes; ++lane)
        runner->threads_.emplace_back([self = runner.get(), lane] { self->serve(lane); });
    return runner;
  } catch (const std::bad_alloc&) {
    return base::fail(base::ErrorCode::out_of_memory, "no memory for the sample buffers of {} lanes x {} inferences",
                      lanes, capacity);
  } catch (const std::system_error& error) {
    return base::fail(base::ErrorCode::out_of_memory, "cannot start {} lane threads: {}", lanes - 1, error.what());
  }
}

LaneRunner::LaneRunner(workload::Workload& workload, MeasureControl& control, std::int64_t capacity)
    : workload_(workload),
      control_(control),
      capacity_(capacity),
      virtual_time_(&workload.clock() != &base::system_clock()),
      lanes_(static_cast<std::size_t>(workload.lanes())),
      window_(lanes_.size()) {
  // Filling with zeros touches every page, so that no page fault falls into a timed inference.
  for (auto& lane : lanes_) lane.ends.assign(static_cast<std::size_t>(capacity), 0);
  if (lanes_.size() > 1) completions_.reserve(static_cast<std::size_t>(capacity) * lanes_.size());
}

LaneRunner::~LaneRunner() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
}

void LaneRunner::serve(int lane) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || round_ != seen || entering_ == lane; });
      if (closing_) return;
      if (entering_ == lane) {
        if (!workload_.enter_thread(lane)) failed_lane_.store(lane, std::memory_order_relaxed);
        entering_ = 0;
        lock.unlock();
        wake_.notify_all();
        continue;
      }
      seen = round_;
    }
    step_until_limit(lane);
    {
      const std::lock_guard lock(mutex_);
      --running_;
    }
    wake_.notify_all();
  }
}

/// Lane by lane: what one does on its thread for the first time may not bear company.
bool LaneRunner::enter_all() {
  for (int lane = 0; lane < lanes(); ++lane) {
    if (lane == 0 || virtual_time_) {
      if (workload_.enter_thread(lane)) continue;
      failed_lane_.store(lane, std::memory_order_relaxed);
      return false;
    }
    std::unique_lock lock(mutex_);
    entering_ = lane;
    wake_.notify_all();
    wake_.wait(lock, [&] { return entering_ == 0; });
    if (failed_lane_.load(std::memory_order_relaxed) >= 0) return false;
  }
  return true;
}

void LaneRunner::wait_for_all() noexcept {
  // Spinning, not sleeping: a futex wake-up would spread the starts by tens of microseconds.
  arrived_.fetch_add(1, std::memory_order_acq_rel);
  while (arrived_.load(std::memory_order_acquire) < partners_) std::this_thread::yield();
}

void LaneRunner::step_until_limit(int index) noexcept {
  auto& lane = lanes_[static_cast<std::size_t>(index)];
  const auto& clock = workload_.clock();
  const auto limits = limits_;
  const auto duration = limits.duration ? limits.duration->count() : std::numeric_limits<std::int64_t>::max();
  bool done = false;
  std::int64_t count = 0;
  wait_for_all();
  const auto start = clock.now().count();
  while (true) {
    if (!workload_.step(index)) {
      int none = -1;
      failed_lane_.compare_exchange_strong(none, index, std::memory_order_relaxed);
      stop_.store(true, std::memory_order_relaxed);
      break;
    }
    // One clock reading an inference: the end of one is the start of the next.
    const auto now = clock.now().count();
    lane.ends[static_cast<std::size_t>(count++)] = now;
    // Only lane 0 writes it, so a plain load and store do: no cache line moves between lanes.
    if (index == 0) control_.steps.store(control_.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!done && (count >= limits.max_inferences || (now - start >= duration && count >= limits.min_inferences))) {
      done = true;
      finished_.fetch_add(1, std::memory_order_relaxed);
    }
    if (finished_.load(std::memory_order_relaxed) >= partners_) break;
    if (count == capacity_) stop_.store(true, std::memory_order_relaxed);
    if (stop_.load(std::memory_order_relaxed) || control_.cancel.load(std::memory_order_relaxed)) break;
  }
  lane.start = start;
  lane.count = count;
}

base::Result<void> LaneRunner::run(const RoundLimits& limits) {
  limits_ = limits;
  // Half of the buffer is room for a faster lane that goes on until the slowest is done.
  limits_.max_inferences =
      std::clamp<std::int64_t>(limits.max_inferences, 1, lanes_.size() > 1 ? capacity_ / 2 : capacity_);
  limits_.min_inferences = std::min(limits.min_inferences, limits_.max_inferences);
  stop_.store(false, std::memory_order_relaxed);
  failed_lane_.store(-1, std::memory_order_relaxed);
  for (auto& lane : lanes_) lane.count = lane.counted = 0;
  if (!std::exchange(entered_, true) && !enter_all())
    return tl::unexpected<base::Error>(workload_.last_error(failed_lane_.load(std::memory_order_relaxed)));

  if (virtual_time_ || lanes_.size() == 1) {
    partners_ = 1;
    for (int lane = 0; lane < lanes() && !stop_.load(std::memory_order_relaxed); ++lane) {
      arrived_.store(0, std::memory_order_relaxed);
      finished_.store(0, std::memory_order_relaxed);
      step_until_limit(lane);
    }
  } else {
    partners_ = lanes();
    arrived_.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      running_ = lanes() - 1;
      ++round_;
    }
    wake_.notify_all();
    step_until_limit(0);
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return running_ == 0; });
  }
  if (const int failed = failed_lane_.load(std::memory_order_relaxed); failed >= 0)
    return tl::unexpected<base::Error>(workload_.last_error(failed));
  count_common();
  return {};
}

void LaneRunner::count_common() noexcept {
  // Threads share one time line, and only what ended while all were busy counts. Virtual lanes do not slow each other
  // down, so everything counts.
  auto common_end = std::numeric_limits<std::int64_t>::max();
  if (!virtual_time_)
    for (const auto& lane : lanes_)
      common_end = std::min(common_end, lane.count > 0 ? lane.ends[static_cast<std::size_t>(lane.count - 1)] : 0);
  counted_a_lane_ = std::numeric_limits<std::int64_t>::max();
  for (auto& lane : lanes_) {
    const auto first = lane.ends.begin();
    const auto within = std::upper_bound(first, first + lane.count, common_end);
    lane.counted = std::min<std::int64_t>(within - first, limits_.max_inferences);
    counted_a_lane_ = std::min(counted_a_lane_, lane.counted);
  }
}

base::Nanoseconds LaneRunner::elapsed() const noexcept {
  const auto& lane = lanes_[0];
  return base::Nanoseconds(lane.count > 0 ? lane.ends[static_cast<std::size_t>(lane.count - 1)] - lane.start : 0);
}

double LaneRunner::slowest_first_ns() const noexcept {
  std::int64_t slowest = 0;
  for (const auto& lane : lanes_)
    if (lane.count > 0) slowest = std::max(slowest, lane.ends[0] - lane.start);
  return static_cast<double>(slowest);
}

void LaneRunner::append_latencies(std::vector<double>& out) {
  if (lanes_.size() == 1) {
    auto previous = lanes_[0].start;
    for (std::int64_t i = 0; i < lanes_[0].counted; ++i) {
      const auto end = lanes_[0].ends[static_cast<std::size_t>(i)];
      out.push_back(static_cast<double>(end - previous));
      previous = end;
    }
    return;
  }
  completions_.clear();
  for (const auto& lane : lanes_) {
    auto previous = lane.start;
    const auto origin = virtual_time_ ? lane.start : 0;
    for (std::int64_t i = 0; i < lane.counted; ++i) {
      const auto end = lane.ends[static_cast<std::size_t>(i)];
      completions_.push_back({end - origin, static_cast<double>(end - previous)});
      previous = end;
    }
  }
  std::stable_sort(completions_.begin(), completions_.end(),
                   [](const Completion& a, const Completion& b) { return a.end < b.end; });
  for (const auto& completion : completions_) out.push_back(completion.latency);
}

void LaneRunner::add_to_window() noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto& lane = lanes_[i];
    if (lane.counted == 0) continue;
    window_[i].ns += lane.ends[static_cast<std::size_t>(lane.counted - 1)] - lane.start;
    window_[i].count += lane.counted;
  }
}

void LaneRunner::clear_window() noexcept { std::fill(window_.begin(), window_.end(), LaneSpan{}); }

std::vector<LaneRunner::LaneSpan> LaneRunner::take_window() {
  auto taken = window_;
  clear_window();
  return taken;
}

double LaneRunner::window_ns(const std::vector<LaneSpan>& window) noexcept {
  double rate = 0;
  double count = 0;
  for (const auto& lane : window) {
    if (lane.ns > 0) rate += static_cast<double>(lane.count) / static_cast<double>(lane.ns);
    count += static_cast<double>(lane.count);
  }
  return rate > 0 ? count / rate : 0;
}

}  // namespace ridgeline::measure
