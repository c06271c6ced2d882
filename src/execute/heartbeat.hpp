// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "execute/worker_status.hpp"
#include "workload/workload.hpp"

namespace ridgeline::execute {

/// Tells the parent ten times a second that this process runs, from a thread of its own. Writes memory only while
/// inferences are timed, which so never wait for it; at other times it also looks at the processes of this one, which
/// may be what works.
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
  void look_at_children();

  WorkerStatus& status_;
  std::mutex mutex_;  ///< guards followed_
  std::condition_variable_any changed_;
  const workload::Workload* followed_ = nullptr;
  std::chrono::steady_clock::time_point looked_;
  std::int64_t children_ns_ = 0;  ///< processor time of those that there were at the last look
  std::int64_t outside_ns_ = 0;   ///< that all have used, as far as looks saw it
  pid_t fork_server_ = 0;         ///< the parent of what a Python trial runs in; 0: none
  std::jthread thread_;
};

}  // namespace ridgeline::execute
