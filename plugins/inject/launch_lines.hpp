// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "python_layout.hpp"

namespace ridgeline::inject {

/// The lines of Python that call CUDA. CUPTI asks for the time on the calling thread as each recorded call begins and
/// ends; the line that runs then is kept until the record with that time comes. One a process, never destroyed.
class LaunchLines {
 public:
  static LaunchLines& of_process();

  /// From now on; a process has one Python.
  void start(const PythonLayout& layout, PythonFiles files);
  /// Python ends.
  void stop();
  /// The line that this thread runs; nullptr: none is known, or the lines were not asked for.
  [[nodiscard]] const std::string* line();
  /// CUPTI was given that time on this thread.
  void time_given(std::int64_t now_ns);
  /// The line that a thread ran at that very time, and forgets those long before it; nullptr: none.
  [[nodiscard]] const std::string* take(std::int64_t thread, std::int64_t at_ns);

  /// How many that gave.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

  struct Python;
  struct Thread;
  struct Threads;

 private:
  LaunchLines();
  /// nullptr: lines were not asked for, or the thread runs no Python.
  [[nodiscard]] Thread* of_thread();
  /// Of another Python, or in a child, whose threads have other numbers and where a lock may have been held.
  void forget_threads();

  std::atomic<const Python*> python_ = nullptr;
  std::atomic<Threads*> threads_;
  std::atomic<std::uint64_t> taken_ = 0;
};

}  // namespace ridgeline::inject
