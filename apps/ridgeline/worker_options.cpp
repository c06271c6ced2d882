// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/worker_options.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "execute/device_pool_executor.hpp"
#include "gpu/gpu_inventory.hpp"
#include "host/environment_probe.hpp"

namespace ridgeline::app {

execute::WorkerOptions worker_options(execute::Isolation isolation) {
  execute::WorkerOptions options;
  options.command = {base::executable_path().string(), "worker"};
  options.isolation = isolation;
  options.cancelled = &base::cancel_requested;
  return options;
}

schema::Environment find_environment() {
  auto environment = host::probe_environment();
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  campaign::describe_gpus(environment, gpu::GpuInventory::read(),
                          visible != nullptr ? std::optional<std::string>(visible) : std::nullopt);
  return environment;
}

std::unique_ptr<execute::Executor> make_executor(execute::Isolation isolation, const campaign::GpuGroup& gpus,
                                                 std::function<void(const execute::TrialProgress&)> on_progress,
                                                 const workload::VirtualClock* simulated) {
  auto options = worker_options(isolation);
  const auto environment_of = [&](const schema::GpuDescription* gpu) {
    auto environment = gpu != nullptr ? campaign::gpu_environment(*gpu) : decltype(options.environment){};
    if (simulated != nullptr) environment.emplace_back(workload::VirtualClock::kVariable, simulated->path());
    return environment;
  };
  if (simulated != nullptr) options.clock = simulated;
  std::vector<execute::DevicePoolExecutor::Make> others;
  for (std::size_t i = 1; i < gpus.size(); ++i) {
    options.environment = environment_of(&gpus[i]);
    others.push_back([options] { return execute::make_local_executor(options); });
  }
  options.environment = environment_of(gpus.empty() ? nullptr : &gpus.front());
  options.on_progress = std::move(on_progress);
  auto first = execute::make_local_executor(std::move(options));
  if (others.empty()) return first;
  return std::make_unique<execute::DevicePoolExecutor>(std::move(first), others);
}

base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device) {
  constexpr std::string_view kGpu = "gpu:";
  campaign::GpuGroup gpus;
  if (device.rfind(kGpu, 0) == 0) {
    const auto environment = find_environment();
    for (const auto& gpu : environment.gpus)
      if (gpu.uuid == device.substr(kGpu.size())) gpus = {gpu};
    if (gpus.empty())
      return base::fail(base::ErrorCode::not_found, "GPU {} of that trial is not in this machine; there is {}",
                        device.substr(kGpu.size()),
                        environment.gpus.empty() ? "none" : campaign::gpu_list(environment.gpus))
          .hint("rerun it on the machine that has it");
  }
  return make_executor(execute::Isolation::trial, gpus, {});
}

execute::SweepExecutorOptions sweep_executor_options() {
  execute::SweepExecutorOptions options;
  options.supervisor = {base::executable_path().string(), "supervise", "--"};
  options.cancelled = &base::cancel_requested;
  return options;
}

}  // namespace ridgeline::app
