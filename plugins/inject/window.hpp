// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "options.hpp"

namespace ridgeline::inject {

/// Which part of the program is recorded: all, or what options of `ridgeline profile` choose.
class Window {
 public:
  Window(const Options& options, std::int64_t now_ns);

  [[nodiscard]] bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
  /// Nothing more is recorded, whatever comes.
  [[nodiscard]] bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); }

  /// Those that have ended.
  [[nodiscard]] std::int64_t recorded_steps() const noexcept;

  // What may change it; each answers whether it did.
  bool at_time(std::int64_t now_ns);
  bool at_step();
  bool at_range(bool begins);
  /// cudaProfilerStart or cudaProfilerStop; a second one of the same changes nothing.
  bool at_profiler(bool starts);
  bool close();

 private:
  bool look();

  const Options options_;
  const std::int64_t opens_ns_;           ///< at the earliest
  std::atomic<std::int64_t> steps_ = -1;  ///< the step that runs; -1: none has begun
  std::atomic<int> in_range_ = 0;         ///< ranges of that name that are open
  std::atomic<bool> profiling_ = false;   ///< cudaProfilerStart was called last
  std::atomic<bool> waited_ = false;      ///< the delay is over
  std::atomic<bool> open_ = false;
  std::atomic<bool> over_ = false;
};

}  // namespace ridgeline::inject
