// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "execute/gpu_tally.hpp"
#include "execute/job.hpp"
#include "execute/supervisor.hpp"

namespace ridgeline::execute {

struct CommandRequest {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of ours
  std::filesystem::path log;                                     ///< stdout and stderr
  double limit_s = 0;                                            ///< 0: none
};

struct CommandResult {
  SupervisorReport report;
  bool timed_out = false;
  bool cancelled = false;
  bool kernel_oom_kill = false;     ///< the control group's count of such kills rose meanwhile
  std::int64_t peak_rss_bytes = 0;  ///< all processes together, as seen four times a second; at least the largest one's
  std::size_t most_processes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t output_left_out = 0;
};

struct CommandRunnerOptions {
  std::vector<std::string> supervisor;  ///< argv before the command's: a program whose body is supervise()
  std::function<bool()> cancelled;
  std::function<void(const JobProgress&)> on_progress;
};

/// Runs one command under a supervisor, keeps its output, watches it from outside. When this returns, no process of the
/// command is left: after its end, its time limit or a cancel within 5 s. A command that fails is a result; an Error is
/// ours: no supervisor (not_found, io), no log (io), a supervisor that died (crashed).
[[nodiscard]] base::Result<CommandResult> run_command(const CommandRequest& request,
                                                      const CommandRunnerOptions& options, GpuTally& gpus);

}  // namespace ridgeline::execute
