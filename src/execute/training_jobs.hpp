// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "execute/local_transport.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

struct TrainingOptions {
  workload::StepRunnerFactory factory;
  std::shared_ptr<const base::Clock> clock;  ///< nullptr: the system's
  std::function<bool()> cancelled;
  std::function<void(const JobProgress&)> on_progress;
  std::string gpu_uuid;  ///< watched while trials run; "": none
  /// Whether a process that served the last trial will serve the next, and is on the GPU meanwhile; unset: never. Asked
  /// once the runner is made.
  std::function<bool()> process_waits;
  std::vector<std::string> nvml = {};  ///< candidates for the library; empty: the usual ones
};

/// Training trials of this process: a runner for each, prepared, measured and closed. A trial that fails is an outcome;
/// an Error ends the whole run: cancelled, or what no other settings would fix (no such module, no torch, no such
/// device). What the GPU did is added to the measurement: gpu_util by NVML, and gpu_busy by GPM where the runner cannot
/// tell; a flag of level info says which (gpu_busy_gpm, gpu_busy_nvml).
void add_training_jobs(LocalTransport& transport, TrainingOptions options);

}  // namespace ridgeline::execute
