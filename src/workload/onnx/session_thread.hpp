// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/error.hpp"

namespace ridgeline::workload {

/// The one thread that runs a session, for others that wait: ONNX Runtime keeps CUDA graphs by thread. In the order in
/// which they ask.
class SessionThread {
 public:
  SessionThread();
  /// Nobody waits any more.
  ~SessionThread();
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  /// Returns what `job` returns there. Any thread but itself.
  [[nodiscard]] base::Result<void> run(const std::function<base::Result<void>()>& job);

 private:
  struct Job {
    const std::function<base::Result<void>()>& work;
    base::Result<void> result{};
    bool is_done = false;
    std::condition_variable done{};
  };
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace ridgeline::workload
