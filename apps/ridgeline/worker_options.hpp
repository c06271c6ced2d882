// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "execute/calls.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/worker_jobs.hpp"
#include "ridgeline/bench_runners.hpp"
#include "workload/synthetic/virtual_clock.hpp"

namespace ridgeline::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A slot for each GPU, whose processes see that GPU only; without a GPU one slot of the CPU. The first one's progress
/// goes to `on_progress`; an interrupt ends running jobs. `simulated`: the run's clock
/// (workload::simulated_clock), which must outlive the executor; nullptr: time is real. `environment`: of the
/// workers, on top of ours.
[[nodiscard]] std::unique_ptr<execute::Executor> make_executor(
    execute::Isolation isolation, const execute::GpuGroup& gpus,
    std::function<void(const execute::JobProgress&)> on_progress, const workload::VirtualClock* simulated = nullptr,
    const Variables& environment = {});

/// The GPU of a TrialSpec::device; none of a CPU. Errors: that GPU is not in this machine.
[[nodiscard]] base::Result<execute::GpuGroup> gpus_of(const std::string& device);

/// For a trial recorded on `device` (TrialSpec::device). Errors: that GPU is not in this machine.
[[nodiscard]] base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device);

/// Workers are this same binary.
[[nodiscard]] execute::WorkerOptions worker_options(execute::Isolation isolation);

/// Where training trials run, and the GPU that is watched meanwhile; "": none.
struct TrainingSlot {
  BenchRunners runners;
  std::string gpu_uuid;
};
/// `places`: at least one; the first one's progress goes to `on_progress`.
[[nodiscard]] std::unique_ptr<execute::Executor> make_training_executor(
    const std::vector<TrainingSlot>& places, std::function<void(const execute::JobProgress&)> on_progress = {});

/// Where commands run, under `ridgeline supervise`, and the GPUs that are watched meanwhile.
struct CommandSlot {
  std::vector<std::string> gpu_uuids;
  std::vector<std::pair<std::string, std::string>> environment;  ///< on top of ours
};
[[nodiscard]] std::unique_ptr<execute::Executor> make_command_executor(
    const std::vector<CommandSlot>& places, std::function<void(const execute::JobProgress&)> on_progress = {});

}  // namespace ridgeline::app
