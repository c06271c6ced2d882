// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

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
};

/// A runner for each trial, prepared, measured and closed. Runners of real training start a process each, so that no
/// trial inherits what another one left behind.
[[nodiscard]] std::unique_ptr<TrainingExecutor> make_training_executor(TrainingExecutorOptions options);

}  // namespace ridgeline::execute
