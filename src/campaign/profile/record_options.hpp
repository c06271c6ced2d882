// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ridgeline::campaign {

/// How bytes of launches are counted.
enum class Counting {
  none,
  window,  ///< in a step of the same run, which is not recorded then
  rerun,   ///< in a second run
};

/// What of a program is recorded; without any of these all of it, up to a size.
struct RecordOptions {
  std::string range;                         ///< only while a range of this name runs; "": any time
  std::optional<std::int64_t> warmup_steps;  ///< left out
  std::optional<std::int64_t> steps;         ///< recorded behind them
  std::optional<double> delay_s;
  std::optional<double> duration_s;
  bool profiler_api = false;               ///< only between cudaProfilerStart and cudaProfilerStop
  std::int64_t max_bytes = 2'000'000'000;  ///< of each process
  std::int64_t max_events = 0;             ///< of each process; 0: any
  bool lines = false;                      ///< of Python that call CUDA
  Counting counting = Counting::window;
  bool counts_concurrent = false;  ///< also kernels that run at the same time: one by one, then
  bool of_running = false;         ///< a process that runs already (--pid)

  /// Whether a program that ran may have nothing recorded because its time never came.
  [[nodiscard]] bool has_begin() const noexcept { return !range.empty() || warmup_steps || delay_s || profiler_api; }
  /// As the recording library reads them: "max_bytes=500000000;steps=5".
  [[nodiscard]] std::string text() const;
  /// The same for the run that only counts (Counting::rerun).
  [[nodiscard]] std::string text_of_rerun() const;

 private:
  [[nodiscard]] std::string text_without_counters() const;
};

}  // namespace ridgeline::campaign
