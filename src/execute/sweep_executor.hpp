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
#include "schema/sweep.hpp"

namespace ridgeline::execute {

/// Runs sweep trials one after another. A trial that fails is an outcome; an Error ends the run: cancelled, or what no
/// other values would mend (the program cannot be started, the folder cannot be written).
class SweepExecutor {
 public:
  virtual ~SweepExecutor() = default;
  /// Output and metrics go to `folder`, which is made. `time_left_s`: of the whole run, nullopt: no end; when it ends a
  /// trial that its own limit would not have ended, the Error is timeout.
  [[nodiscard]] virtual base::Result<schema::SweepOutcome> run(const schema::SweepTrialSpec& spec,
                                                               const std::filesystem::path& folder,
                                                               std::optional<double> time_left_s) = 0;
  /// The clock that the run's time limit is told by.
  [[nodiscard]] virtual const base::Clock& clock() const noexcept { return base::system_clock(); }
};

struct SweepExecutorOptions {
  std::vector<std::string> supervisor;  ///< see CommandRunnerOptions
  std::function<bool()> cancelled;
  std::function<void(const CommandProgress&)> on_progress;
  std::vector<std::string> gpu_uuids;  ///< watched while trials run
  std::vector<std::string> nvml = gpu::NvmlApi::default_candidates();
};

/// Each trial is a command under a supervisor. Its environment has RIDGELINE_METRICS_FILE (where it may write lines
/// "name value"), RIDGELINE_TRIAL_DIR and RIDGELINE_REPEAT (1, 2 ...). An exit code of 0 with every asked-for metric is
/// ok; everything else is classified, out-of-memory by exception type, kernel kill or known phrase in the output's end.
[[nodiscard]] std::unique_ptr<SweepExecutor> make_sweep_executor(SweepExecutorOptions options);

}  // namespace ridgeline::execute
