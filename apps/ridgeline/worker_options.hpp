// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "campaign/gpu_choice.hpp"
#include "execute/executor.hpp"
#include "execute/sweep_executor.hpp"
#include "workload/synthetic/virtual_clock.hpp"

namespace ridgeline::app {

/// The machine, with its GPUs as NVML tells them.
[[nodiscard]] schema::Environment find_environment();

/// A lane for each GPU, whose workers see that GPU only; without a GPU a single lane. The first one's progress goes to
/// `on_progress`. `simulated`: the run's clock (workload::simulated_clock), which must outlive the executor; nullptr:
/// time is real.
[[nodiscard]] std::unique_ptr<execute::Executor> make_executor(
    execute::Isolation isolation, const campaign::GpuGroup& gpus,
    std::function<void(const execute::TrialProgress&)> on_progress, const workload::VirtualClock* simulated = nullptr);

/// For a trial recorded on `device` (TrialSpec::device). Errors: that GPU is not in this machine.
[[nodiscard]] base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device);

/// Workers are this same binary; an interrupt ends the running trial.
[[nodiscard]] execute::WorkerOptions worker_options(execute::Isolation isolation);

/// Commands run under `ridgeline supervise`; an interrupt ends the running one.
[[nodiscard]] execute::SweepExecutorOptions sweep_executor_options();

}  // namespace ridgeline::app
