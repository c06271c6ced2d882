// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "execute/calls.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/worker_jobs.hpp"
#include "ridgeline/bench_runners.hpp"
#include "workload/synthetic/virtual_clock.hpp"

namespace ridgeline::app {

/// A slot for each GPU, whose processes see that GPU only; without a GPU one slot of the CPU. The first one's progress
/// goes to `on_progress`; an interrupt ends running jobs. `simulated`: the run's clock
/// (workload::simulated_clock), which must outlive the executor; nullptr: time is real.
[[nodiscard]] std::unique_ptr<execute::Executor> make_executor(
    execute::Isolation isolation, const execute::GpuGroup& gpus,
    std::function<void(const execute::JobProgress&)> on_progress, const workload::VirtualClock* simulated = nullptr);

/// For a trial recorded on `device` (TrialSpec::device). Errors: that GPU is not in this machine.
[[nodiscard]] base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device);

/// Workers are this same binary.
[[nodiscard]] execute::WorkerOptions worker_options(execute::Isolation isolation);

/// Training trials by these runners. `gpu_uuid`: watched while they run; "": none.
[[nodiscard]] std::unique_ptr<execute::Executor> make_training_executor(
    const BenchRunners& runners, const std::string& gpu_uuid,
    std::function<void(const execute::JobProgress&)> on_progress = {});

/// Commands under `ridgeline supervise`. `gpu_uuids`: watched while they run.
[[nodiscard]] std::unique_ptr<execute::Executor> make_command_executor(
    std::vector<std::string> gpu_uuids = {}, std::function<void(const execute::JobProgress&)> on_progress = {});

}  // namespace ridgeline::app
