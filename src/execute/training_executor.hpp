// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/training_trial.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

struct TrainingProgress {
  schema::TrialPhase phase = schema::TrialPhase::launch;
  std::int64_t steps = 0;
  double elapsed_s = 0;
};

/// Runs training trials one after another. A trial that fails is an outcome; an Error ends the whole run: cancelled, or
/// what no other settings would mend (no such module, no torch, no such device). One thread.
class TrainingExecutor {
 public:
  virtual ~TrainingExecutor() = default;
  [[nodiscard]] virtual base::Result<schema::TrainingOutcome> run(const schema::TrainingTrialSpec& spec) = 0;
  /// The clock that the run's time limit is told by.
  [[nodiscard]] virtual const base::Clock& clock() const noexcept { return base::system_clock(); }
};

struct TrainingExecutorOptions {
  workload::StepRunnerFactory factory;
  std::shared_ptr<const base::Clock> clock;  ///< nullptr: the system's
  std::function<bool()> cancelled;
  std::function<void(const TrainingProgress&)> on_progress;
  std::string gpu_uuid;  ///< watched while trials run; "": none
  /// Whether a process that served the last trial will serve the next, and is on the GPU meanwhile; unset: never. Asked
  /// once the runner is made.
  std::function<bool()> process_waits;
  std::vector<std::string> nvml = {};  ///< candidates for the library; empty: the usual ones
};

/// A runner for each trial, prepared, measured and closed. What the GPU did is added to the measurement: gpu_util by
/// NVML, and gpu_busy by GPM where the runner cannot tell; a flag of level info says which (gpu_busy_gpm,
/// gpu_busy_nvml).
[[nodiscard]] std::unique_ptr<TrainingExecutor> make_training_executor(TrainingExecutorOptions options);

}  // namespace ridgeline::execute
