// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "activity_buffers.hpp"
#include "captured_nodes.hpp"
#include "counting.hpp"
#include "gpu_records.hpp"
#include "options.hpp"
#include "range_names.hpp"
#include "step_cost.hpp"
#include "thread_ranges.hpp"
#include "tracefile/event_log.hpp"
#include "window.hpp"

namespace ridgeline::inject {

/// Records this process: ranges of its threads, and its GPU work where it uses CUDA. At most one at a time, made when
/// something first asks for it or wakes it (IdleRecorder), and never destroyed, as threads may call it until the very
/// end.
class Recorder final : private CaptureListener, private CountingHost, private LaunchPlaces {
 public:
  /// nullptr: `ridgeline profile` does not record here, or the trace file cannot be written.
  [[nodiscard]] static Recorder* of_process();

  /// Makes one in a process whose recorder waits. `folder`: of the recording. `has_cuda`: CUDA has started. "": it
  /// records; else why the folder cannot be written to.
  [[nodiscard]] static std::string wake(const std::string& folder, const std::string& options, bool has_cuda);
  /// Ends what was woken, and writes what there is. Nothing where the end of the process did so.
  static void end();

  /// Records the GPU work, too; the driver calls this when CUDA starts.
  void add_cuda();
  /// Of the thread that asks.
  [[nodiscard]] ThreadRanges& ranges();
  [[nodiscard]] RangeNames& names() noexcept { return names_; }

  void push(std::uint32_t name, trace::RangeKind kind, const void* domain);
  void pop(const void* domain);
  void step();
  /// Writes what there is, before the process ends without saying so.
  void flush();
  /// Who calls step() and capture() does so from now on.
  void hooks_start() { has_hooks_ = true; }
  /// A CUDA graph is captured from now on, or no longer.
  void capture(bool begins);
  /// Whether ranges are recorded now.
  [[nodiscard]] bool is_on() const noexcept;
  /// The program called cudaProfilerStart, or cudaProfilerStop.
  void profiler_called(bool starts) override;
  [[nodiscard]] bool is_woken() const noexcept { return woken_; }
  /// Nothing more is going to be recorded.
  [[nodiscard]] bool is_over() const noexcept { return window_.is_over(); }
  [[nodiscard]] bool is_counting() const noexcept;
  /// Records nothing more; ranges that are open and recorded may still end.
  void close();
  [[nodiscard]] bool has_open_ranges();

 private:
  Recorder(trace::EventLog log, std::string stem, const Options& options, bool woken);
  /// nullptr: the folder cannot be written to; `why`, if wanted.
  static Recorder* make(const std::string& folder, const std::string& options, bool woken, std::string* why);
  static void after_fork();
  static void forget_thread();
  void start_writing();

  void stream_captured(bool begins) override { stream_captures_ += begins ? 1 : -1; }
  void node_created(std::uint64_t node) override;
  void node_cloned(std::uint64_t original, std::uint64_t copy) override;
  void pause_records(bool pause, std::int64_t since_ns) override;
  void read_records() override;
  [[nodiscard]] std::uint32_t launch_path() override;
  /// The ranges that are open on this thread, and around the call of CUDA its line of Python, as records have it.
  [[nodiscard]] std::string path_of_call();

  void run();
  void drain();
  /// nullptr: the process does not use CUDA.
  [[nodiscard]] GpuRecords* gpu_records();
  [[nodiscard]] std::optional<StepCost::Result> step_cost();
  void write_facts(bool ended);
  void at_exit();
  void end_counting();
  static void end_counting_at_exit();
  [[nodiscard]] CounterOutcome counter_outcome() const;
  /// Switches CUPTI as the window has it.
  void follow_window();
  /// The same on a thread of the program, after the GPU has done what was launched.
  void follow_window_after_work();
  /// Within cuda_mutex_. What lies between records that are kept is a pause.
  void switch_records(bool on, std::int64_t since_ns);
  void end_step(std::int64_t now);
  /// A step begins after the recorded ones.
  void measure_cost(std::int64_t now);
  [[nodiscard]] const char* state() const;

  const std::string stem_;  ///< of its files
  const Options options_;
  const std::int64_t process_;
  const std::int64_t begun_ns_;
  const bool woken_;  ///< in a program that was running
  RangeNames& names_;
  Window window_;
  trace::EventLog log_;  ///< of the writing thread
  std::string failure_;  ///< of writing it
  bool full_ = false;
  bool full_of_events_ = false;  ///< not of bytes

  std::atomic<bool> calls_profiler_api_ = false;
  std::atomic<bool> has_hooks_ = false;
  std::atomic<int> stream_captures_ = 0;       ///< that go on, as far as CUPTI is asked
  std::atomic<std::int64_t> last_end_ns_ = 0;  ///< of a range, of any thread
  std::mutex step_mutex_;
  std::int64_t step_ = 0;  ///< that runs, by its number from 1 on; 0: none
  std::int64_t step_begun_ns_ = 0;
  bool step_kept_ = false;
  std::int64_t recorded_steps_ = 0;
  std::shared_ptr<ThreadRanges> steps_;
  StepCost cost_;
  std::atomic<bool> is_cost_step_ = false;  ///< recorded to measure what that costs; nothing of it is kept
  std::atomic<std::int64_t> kept_until_ns_ = std::numeric_limits<std::int64_t>::max();

  std::mutex threads_mutex_;
  std::vector<std::shared_ptr<ThreadRanges>> threads_;

  std::mutex cuda_mutex_;  ///< of switching, and of what follows
  bool has_cuda_ = false;
  ActivityBuffers& buffers_;
  std::map<std::int32_t, std::string> described_;  ///< UUIDs of GPUs that the driver described, by number
  int captures_ = 0;                               ///< that go on
  bool always_watches_ = false;
  CapturedNodes nodes_;
  std::unique_ptr<GpuRecords> gpu_;  ///< nullptr: no CUDA, or one that is not known
  std::string why_no_gpu_;
  bool paused_ = false;            ///< while bytes are counted
  bool records_ = false;           ///< CUPTI is switched on
  std::int64_t off_since_ns_ = 0;  ///< 0: it never was
  std::shared_ptr<ThreadRanges> pauses_;
  std::atomic<Counting*> counting_ = nullptr;  ///< nullptr: not asked for, or no CUDA; never destroyed

  std::mutex drain_mutex_;
  std::atomic<bool> says_that_it_ends_ = false;  ///< flush() was called
  std::mutex wake_mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread writer_;
};

}  // namespace ridgeline::inject
