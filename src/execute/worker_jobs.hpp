// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "execute/local_transport.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

enum class Isolation { pooled, trial };

struct WorkerOptions {
  std::vector<std::string> command;                              ///< argv of the worker: {executable_path, "worker"}
  std::vector<std::pair<std::string, std::string>> environment;  ///< set on top of ours: which GPU it sees
  Isolation isolation = Isolation::pooled;
  double heartbeat_timeout_s = 10;  ///< no heartbeat at all for so long: the worker is stopped or swapped out
  double stall_timeout_s = 60;      ///< heartbeats but no progress for so long inside one phase: a hang
  double launch_timeout_s = 30;
  std::optional<std::uint64_t> address_space_bytes;
  std::function<void(const JobProgress&)> on_progress;  ///< called at most 20 times a second
  std::function<bool()> cancelled;                      ///< polled; true ends the running job with ErrorCode::cancelled
  /// Of the run, in which durations and TimeLeft count: a simulated one, or the system's. Whether a worker hangs is a
  /// question of real time in any case. Must outlive the transport.
  const base::Clock* clock = &base::system_clock();
};

/// Jobs for a runtime go to worker processes on this machine: one long-lived worker runs many trials of one runtime
/// (pooled, see WorkerPool); any failure that may have poisoned it ends it, and the next job gets a fresh one. Probes
/// have a process of their own. Workers die with the thread that ran the transport, so use it from a thread that lives
/// as long as it does.
void add_worker_jobs(LocalTransport& transport, WorkerOptions options);

/// The body of `ridgeline worker`: serves jobs on file descriptors 3 (in) and 4 (out) until end of file, and tells its
/// phase and progress through shared memory on 5. Returns the exit code: 0, or 2 when no parent of ours set these up.
[[nodiscard]] int worker_main(const workload::WorkloadRegistry& registry);

}  // namespace ridgeline::execute
