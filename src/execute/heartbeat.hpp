// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "execute/worker_status.hpp"
#include "workload/workload.hpp"

namespace ridgeline::execute {

/// Tells the parent ten times a second that this process runs, from a thread of its own. Writes memory only, so a timed
/// inference never waits for it.
class Heartbeat {
 public:
  explicit Heartbeat(WorkerStatus& status);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// While set, the workload's own phase is copied to the parent every few milliseconds; nullptr ends that. For
  /// workloads in prepare that do not publish it themselves.
  void follow(const workload::Workload* workload);

 private:
  void run(const std::stop_token& stop);

  WorkerStatus& status_;
  std::mutex mutex_;  ///< guards followed_
  std::condition_variable_any changed_;
  const workload::Workload* followed_ = nullptr;
  std::jthread thread_;
};

}  // namespace ridgeline::execute
