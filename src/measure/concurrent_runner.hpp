// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "measure/measurement_session.hpp"
#include "workload/workload.hpp"

namespace ridgeline::measure {

/// A caller ends its part of a round after `max_inferences`, or once `duration` has passed and `min_inferences` are
/// done.
struct RoundLimits {
  std::int64_t max_inferences = 1;
  std::int64_t min_inferences = 1;
  std::optional<base::Nanoseconds> duration;
};

/// Steps a workload on all of its callers at once and notes when each inference ended; the only code inside a timed
/// region. Caller 0 runs on the calling thread, the others on threads that live as long as this object and sleep
/// between rounds. A caller that reached its limit goes on stepping until the last one has, so that every counted
/// inference ran beside all callers; only what ended while all were busy counts. On a virtual clock the callers run one
/// after the other on the calling thread, each on its own time line: threads would mix their virtual times in an order
/// that the scheduler picks, and the result would not be reproducible. Used by one thread; must not outlive the
/// workload and the control block.
class ConcurrentRunner {
 public:
  /// `capacity`: most inferences per caller in one round; buffers are sized and touched here.
  /// Errors: out_of_memory when threads or buffers cannot be had.
  [[nodiscard]] static base::Result<std::unique_ptr<ConcurrentRunner>> make(workload::Workload& workload,
                                                                            MeasureControl& control,
                                                                            std::int64_t capacity);
  ~ConcurrentRunner();
  ConcurrentRunner(const ConcurrentRunner&) = delete;
  ConcurrentRunner& operator=(const ConcurrentRunner&) = delete;

  [[nodiscard]] int concurrency() const noexcept { return static_cast<int>(callers_.size()); }
  [[nodiscard]] std::int64_t capacity() const noexcept { return capacity_; }

  /// Runs one round. Ends early when control.cancel is set or a buffer is full. Errors: the workload's own.
  [[nodiscard]] base::Result<void> run(const RoundLimits& limits);

  /// Of the last round: caller 0's first start to its last end.
  [[nodiscard]] base::Nanoseconds elapsed() const noexcept;
  /// Of the last round: fewest counted inferences of any caller.
  [[nodiscard]] std::int64_t counted_per_caller() const noexcept { return counted_per_caller_; }
  /// Of the last round: the slowest caller's first inference.
  [[nodiscard]] double slowest_first_ns() const noexcept;
  /// Appends the last round's counted latencies in ns, in order of completion; allocates only to grow.
  void append_latencies(std::vector<double>& out);

  /// A caller's counted inferences and the time that they took.
  struct CallerSpan {
    std::int64_t ns = 0;
    std::int64_t count = 0;
  };

  /// Adds the last round to the window.
  void add_to_window() noexcept;
  void clear_window() noexcept;
  /// By caller.
  [[nodiscard]] const std::vector<CallerSpan>& window() const noexcept { return window_; }
  /// The window, which starts anew.
  [[nodiscard]] std::vector<CallerSpan> take_window();
  /// Counted inferences over the summed rates of the callers: counting whole inferences over one common span would lose
  /// the half-done ones at its end, up to a whole inference per caller.
  [[nodiscard]] static double window_ns(const std::vector<CallerSpan>& window) noexcept;
  [[nodiscard]] double window_ns() const noexcept { return window_ns(window_); }

 private:
  struct alignas(64) Caller {  // a cache line of its own: callers write `count` all the time
    std::vector<std::int64_t> ends;
    std::int64_t count = 0;
    std::int64_t counted = 0;
    std::int64_t start = 0;
  };
  struct Completion {
    std::int64_t end;
    double latency;
  };

  ConcurrentRunner(workload::Workload& workload, MeasureControl& control, std::int64_t capacity);
  void serve(int caller);
  [[nodiscard]] bool enter_all();
  void wait_for_all() noexcept;
  void step_until_limit(int caller) noexcept;
  void count_common() noexcept;

  workload::Workload& workload_;
  MeasureControl& control_;
  std::int64_t capacity_;
  bool virtual_time_;
  std::vector<Caller> callers_;
  std::vector<CallerSpan> window_;
  std::vector<Completion> completions_;
  RoundLimits limits_;
  std::int64_t counted_per_caller_ = 0;

  bool entered_ = false;
  int partners_ = 1;              ///< callers that step at the same time
  std::atomic<int> arrived_{0};   ///< at the start line
  std::atomic<int> finished_{0};  ///< callers that reached their limit
  std::atomic<bool> stop_{false};
  std::atomic<int> failed_caller_{-1};

  std::mutex mutex_;  // guards the four below
  std::condition_variable wake_;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool closing_ = false;
  int entering_ = 0;  ///< caller whose turn it is to enter its thread; 0: none
  std::vector<std::jthread> threads_;
};

}  // namespace ridgeline::measure
