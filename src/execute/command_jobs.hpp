// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "execute/command_runner.hpp"
#include "execute/local_transport.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::execute {

struct CommandOptions {
  std::vector<std::string> supervisor;                                ///< see CommandRunnerOptions
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< of the slot; the job's own goes before it
  std::function<bool()> cancelled;
  std::function<void(const JobProgress&)> on_progress;
  std::vector<std::string> gpu_uuids;  ///< watched while trials run
  std::vector<std::string> nvml = gpu::NvmlApi::default_candidates();
};

/// Trials of a sweep: each is a command under a supervisor. Its environment has RIDGELINE_METRICS_FILE (where it may
/// write lines "name value"), RIDGELINE_TRIAL_DIR and RIDGELINE_REPEAT (1, 2 ...). An exit code of 0 with every
/// asked-for metric is ok; everything else is classified, out-of-memory by exception type, kernel kill or known phrase
/// in the output's end. A trial that fails is an outcome; an Error ends the run: cancelled, timeout when the run's time
/// ends a trial that its own limit would not have ended, or what no other values would fix (the program cannot be
/// started, the folder cannot be written).
void add_command_jobs(LocalTransport& transport, CommandOptions options);

}  // namespace ridgeline::execute
