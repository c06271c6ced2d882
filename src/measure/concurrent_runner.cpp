// SPDX-License-Identifier: Apache-2.0
#include "measure/concurrent_runner.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

namespace ridgeline::measure {

base::Result<std::unique_ptr<ConcurrentRunner>> ConcurrentRunner::make(workload::Workload& workload,
                                                                       MeasureControl& control, std::int64_t capacity) {
  const int concurrency = workload.concurrency();
  if (concurrency < 1)
    return base::fail(base::ErrorCode::internal, "workload has {} callers, expected at least 1", concurrency);
  try {
    std::unique_ptr<ConcurrentRunner> runner(
        new ConcurrentRunner(workload, control, std::max<std::int64_t>(2, capacity)));
    if (!runner->virtual_time_)
      for (int caller = 1; caller < concurrency; ++caller)
        runner->threads_.emplace_back([self = runner.get(), caller] { self->serve(caller); });
    return runner;
  } catch (const std::bad_alloc&) {
    return base::fail(base::ErrorCode::out_of_memory, "no memory for the sample buffers of {} callers x {} inferences",
                      concurrency, capacity);
  } catch (const std::system_error& error) {
    return base::fail(base::ErrorCode::out_of_memory, "cannot start {} caller threads: {}", concurrency - 1,
                      error.what());
  }
}

ConcurrentRunner::ConcurrentRunner(workload::Workload& workload, MeasureControl& control, std::int64_t capacity)
    : workload_(workload),
      control_(control),
      capacity_(capacity),
      virtual_time_(!workload.clock().is_real()),
      callers_(static_cast<std::size_t>(workload.concurrency())),
      window_(callers_.size()) {
  // Filling with zeros touches every page, so that no page fault falls into a timed inference.
  for (auto& caller : callers_) caller.ends.assign(static_cast<std::size_t>(capacity), 0);
  if (callers_.size() > 1) completions_.reserve(static_cast<std::size_t>(capacity) * callers_.size());
}

ConcurrentRunner::~ConcurrentRunner() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
}

void ConcurrentRunner::serve(int caller) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || round_ != seen || entering_ == caller; });
      if (closing_) return;
      if (entering_ == caller) {
        if (!workload_.enter_thread(caller)) failed_caller_.store(caller, std::memory_order_relaxed);
        entering_ = 0;
        lock.unlock();
        wake_.notify_all();
        continue;
      }
      seen = round_;
    }
    step_until_limit(caller);
    {
      const std::lock_guard lock(mutex_);
      --running_;
    }
    wake_.notify_all();
  }
}

/// Caller by caller: what one does on its thread for the first time may not bear company.
bool ConcurrentRunner::enter_all() {
  for (int caller = 0; caller < concurrency(); ++caller) {
    if (caller == 0 || virtual_time_) {
      if (workload_.enter_thread(caller)) continue;
      failed_caller_.store(caller, std::memory_order_relaxed);
      return false;
    }
    std::unique_lock lock(mutex_);
    entering_ = caller;
    wake_.notify_all();
    wake_.wait(lock, [&] { return entering_ == 0; });
    if (failed_caller_.load(std::memory_order_relaxed) >= 0) return false;
  }
  return true;
}

void ConcurrentRunner::wait_for_all() noexcept {
  // Spinning, not sleeping: a futex wake-up would spread the starts by tens of microseconds.
  arrived_.fetch_add(1, std::memory_order_acq_rel);
  while (arrived_.load(std::memory_order_acquire) < partners_) std::this_thread::yield();
}

void ConcurrentRunner::step_until_limit(int index) noexcept {
  auto& caller = callers_[static_cast<std::size_t>(index)];
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
      failed_caller_.compare_exchange_strong(none, index, std::memory_order_relaxed);
      stop_.store(true, std::memory_order_relaxed);
      break;
    }
    // One clock reading an inference: the end of one is the start of the next.
    const auto now = clock.now().count();
    caller.ends[static_cast<std::size_t>(count++)] = now;
    // Only caller 0 writes it, so a plain load and store do: no cache line moves between callers.
    if (index == 0) control_.steps.store(control_.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!done && (count >= limits.max_inferences || (now - start >= duration && count >= limits.min_inferences))) {
      done = true;
      finished_.fetch_add(1, std::memory_order_relaxed);
    }
    if (finished_.load(std::memory_order_relaxed) >= partners_) break;
    if (count == capacity_) stop_.store(true, std::memory_order_relaxed);
    if (stop_.load(std::memory_order_relaxed) || control_.cancel.load(std::memory_order_relaxed)) break;
  }
  caller.start = start;
  caller.count = count;
}

base::Result<void> ConcurrentRunner::run(const RoundLimits& limits) {
  limits_ = limits;
  // Half of the buffer is room for a faster caller that goes on until the slowest is done.
  limits_.max_inferences =
      std::clamp<std::int64_t>(limits.max_inferences, 1, callers_.size() > 1 ? capacity_ / 2 : capacity_);
  limits_.min_inferences = std::min(limits.min_inferences, limits_.max_inferences);
  stop_.store(false, std::memory_order_relaxed);
  failed_caller_.store(-1, std::memory_order_relaxed);
  for (auto& caller : callers_) caller.count = caller.counted = 0;
  if (!std::exchange(entered_, true) && !enter_all())
    return tl::unexpected<base::Error>(workload_.last_error(failed_caller_.load(std::memory_order_relaxed)));

  if (virtual_time_ || callers_.size() == 1) {
    partners_ = 1;
    for (int caller = 0; caller < concurrency() && !stop_.load(std::memory_order_relaxed); ++caller) {
      arrived_.store(0, std::memory_order_relaxed);
      finished_.store(0, std::memory_order_relaxed);
      step_until_limit(caller);
    }
  } else {
    partners_ = concurrency();
    arrived_.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      running_ = concurrency() - 1;
      ++round_;
    }
    wake_.notify_all();
    step_until_limit(0);
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return running_ == 0; });
  }
  if (const int failed = failed_caller_.load(std::memory_order_relaxed); failed >= 0)
    return tl::unexpected<base::Error>(workload_.last_error(failed));
  count_common();
  return {};
}

void ConcurrentRunner::count_common() noexcept {
  // Threads share one time line, and only what ended while all were busy counts. Virtual callers do not slow each other
  // down, so everything counts.
  auto common_end = std::numeric_limits<std::int64_t>::max();
  if (!virtual_time_)
    for (const auto& caller : callers_)
      common_end = std::min(common_end, caller.count > 0 ? caller.ends[static_cast<std::size_t>(caller.count - 1)] : 0);
  counted_per_caller_ = std::numeric_limits<std::int64_t>::max();
  for (auto& caller : callers_) {
    const auto first = caller.ends.begin();
    const auto within = std::upper_bound(first, first + caller.count, common_end);
    caller.counted = std::min<std::int64_t>(within - first, limits_.max_inferences);
    counted_per_caller_ = std::min(counted_per_caller_, caller.counted);
  }
}

base::Nanoseconds ConcurrentRunner::elapsed() const noexcept {
  const auto& caller = callers_[0];
  return base::Nanoseconds(caller.count > 0 ? caller.ends[static_cast<std::size_t>(caller.count - 1)] - caller.start
                                            : 0);
}

double ConcurrentRunner::slowest_first_ns() const noexcept {
  std::int64_t slowest = 0;
  for (const auto& caller : callers_)
    if (caller.count > 0) slowest = std::max(slowest, caller.ends[0] - caller.start);
  return static_cast<double>(slowest);
}

void ConcurrentRunner::append_latencies(std::vector<double>& out) {
  if (callers_.size() == 1) {
    auto previous = callers_[0].start;
    for (std::int64_t i = 0; i < callers_[0].counted; ++i) {
      const auto end = callers_[0].ends[static_cast<std::size_t>(i)];
      out.push_back(static_cast<double>(end - previous));
      previous = end;
    }
    return;
  }
  completions_.clear();
  for (const auto& caller : callers_) {
    auto previous = caller.start;
    const auto origin = virtual_time_ ? caller.start : 0;
    for (std::int64_t i = 0; i < caller.counted; ++i) {
      const auto end = caller.ends[static_cast<std::size_t>(i)];
      completions_.push_back({end - origin, static_cast<double>(end - previous)});
      previous = end;
    }
  }
  std::stable_sort(completions_.begin(), completions_.end(),
                   [](const Completion& a, const Completion& b) { return a.end < b.end; });
  for (const auto& completion : completions_) out.push_back(completion.latency);
}

void ConcurrentRunner::add_to_window() noexcept {
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    const auto& caller = callers_[i];
    if (caller.counted == 0) continue;
    window_[i].ns += caller.ends[static_cast<std::size_t>(caller.counted - 1)] - caller.start;
    window_[i].count += caller.counted;
  }
}

void ConcurrentRunner::clear_window() noexcept { std::fill(window_.begin(), window_.end(), CallerSpan{}); }

std::vector<ConcurrentRunner::CallerSpan> ConcurrentRunner::take_window() {
  auto taken = window_;
  clear_window();
  return taken;
}

double ConcurrentRunner::window_ns(const std::vector<CallerSpan>& window) noexcept {
  double rate = 0;
  double count = 0;
  for (const auto& caller : window) {
    if (caller.ns > 0) rate += static_cast<double>(caller.count) / static_cast<double>(caller.ns);
    count += static_cast<double>(caller.count);
  }
  return rate > 0 ? count / rate : 0;
}

}  // namespace ridgeline::measure
