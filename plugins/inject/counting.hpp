// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "counting_plan.hpp"
#include "gpu_records.hpp"
#include "launch_counters.hpp"
#include "options.hpp"
#include "range_names.hpp"
#include "tracefile/event_log.hpp"

namespace ridgeline::inject {

/// What counting asks of the recorder, on the thread that makes the steps.
class CountingHost {
 public:
  virtual ~CountingHost() = default;
  /// Activities are recorded no longer, which began at `since_ns`, or again as the window has it.
  virtual void pause_records(bool pause, std::int64_t since_ns) = 0;
  /// Reads all that was recorded so far.
  virtual void read_records() = 0;
};

/// Counts bytes in steps that are not recorded, as CUPTI does one or the other (CounterMode::window), or in all of the
/// window that would be recorded (CounterMode::rerun).
class Counting {
 public:
  Counting(const Options& options, GpuRecords& gpu, LaunchPlaces& places, CountingHost& host);

  /// A step begins: ends the counted ones, and begins others if they are due. Whether the step counts and is left out
  /// of the window. Never in a rerun.
  [[nodiscard]] bool at_step(std::int64_t step);
  /// The same after the window has followed. `recorded`: steps that were recorded; `is_over`: no more will be.
  [[nodiscard]] bool at_step_for_graphs(std::int64_t step, std::int64_t recorded, bool is_over);
  /// In a rerun, the window opened or closed. `on_own_thread`: on one of the program's.
  void follow_window(bool is_open, bool on_own_thread);
  void capture(bool begins);
  /// The process ends.
  void end();
  /// The recording ends, on a thread that makes no steps: what is being counted ends with the next launch.
  void end_elsewhere() { counters_->close_with_launches(); }

  [[nodiscard]] bool replaces_records() const noexcept { return options_.counters == CounterMode::rerun; }
  [[nodiscard]] bool is_counting() const noexcept { return counting_.load(std::memory_order_relaxed); }
  /// What was counted since the last call, as events of the log; on the thread of the log.
  void write(trace::EventLog& log, RangeNames& names, std::int64_t process);
  [[nodiscard]] CounterOutcome outcome() const;

 private:
  [[nodiscard]] bool begin_steps(std::int64_t step);
  void end_steps();
  void read_records();
  /// Whether launches must not run one by one.
  [[nodiscard]] bool refuses();
  void refuse(CounterState state, const char* why);

  const Options options_;
  GpuRecords& gpu_;
  CountingHost& host_;
  const std::unique_ptr<LaunchCounters> counters_;
  CountingPlan plan_;
  std::atomic<bool> counting_ = false;  ///< steps
  int fills_caches_ = 0;                ///< so many of the counted steps are not kept
  int captured_steps_ = 0;              ///< that a capture ended before anything was counted
  std::thread::id owner_;               ///< of the counted steps
  std::atomic<bool> captured_ = false;  ///< a CUDA graph
  bool looked_for_graphs_ = false;

  mutable std::mutex mutex_;  ///< of what follows
  CounterOutcome refusal_;
  bool tried_ = false;

  std::unordered_map<std::string, trace::NameId> kernels_;  ///< by mangled names; of the log's thread
};

}  // namespace ridgeline::inject
