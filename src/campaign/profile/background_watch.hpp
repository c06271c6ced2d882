// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ridgeline::campaign {

/// A thread that watches while a program runs, and takes none of the signals, which are for the thread that waits for
/// the program. Where no thread can be made, nothing is watched.
class BackgroundWatch {
 public:
  BackgroundWatch() = default;
  BackgroundWatch(const BackgroundWatch&) = delete;
  BackgroundWatch& operator=(const BackgroundWatch&) = delete;
  ~BackgroundWatch() { stop(); }

  /// Once. `watch` returns soon after wait() was true.
  void start(std::function<void()> watch);
  /// Within `watch`: waits that long, or until it is to end. Whether it is.
  [[nodiscard]] bool wait(std::chrono::nanoseconds time);
  /// Ends it, and waits for that.
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ridgeline::campaign
