// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/worker_options.hpp"

#include <memory>
#include <utility>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "execute/command_jobs.hpp"
#include "execute/local_environment.hpp"
#include "execute/slot_executor.hpp"
#include "execute/training_jobs.hpp"

namespace ridgeline::app {

execute::WorkerOptions worker_options(execute::Isolation isolation) {
  execute::WorkerOptions options;
  options.command = {base::executable_path().string(), "worker"};
  options.isolation = isolation;
  return options;
}

namespace {

using execute::LocalTransport;
using execute::SlotExecutor;

std::function<bool()> interrupt() { return &base::cancel_requested; }

/// The slots of these GPUs, or of the CPU; `fill` says who answers jobs there.
std::unique_ptr<execute::Executor> executor_on(
    const execute::GpuGroup& gpus,
    const std::function<SlotExecutor::MakeTransport(std::size_t slot, const execute::DeviceSlot&)>& maker,
    std::shared_ptr<const base::Clock> clock) {
  std::vector<SlotExecutor::Slot> slots;
  for (const auto& gpu : gpus) slots.push_back({{"gpu:" + gpu.uuid, execute::gpu_environment(gpu)}, {}});
  if (slots.empty()) slots.push_back({{"cpu", {}}, {}});
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i].make = maker(i, slots[i].device);
  return std::make_unique<SlotExecutor>(std::move(slots), interrupt(), std::move(clock));
}

std::unique_ptr<execute::Executor> one_slot(std::string name, SlotExecutor::MakeTransport make,
                                            std::shared_ptr<const base::Clock> clock) {
  std::vector<SlotExecutor::Slot> slots;
  slots.push_back({{std::move(name), {}}, std::move(make)});
  return std::make_unique<SlotExecutor>(std::move(slots), interrupt(), std::move(clock));
}

}  // namespace

std::unique_ptr<execute::Executor> make_executor(execute::Isolation isolation, const execute::GpuGroup& gpus,
                                                 std::function<void(const execute::JobProgress&)> on_progress,
                                                 const workload::VirtualClock* simulated) {
  const auto maker = [&](std::size_t slot, const execute::DeviceSlot& device) -> SlotExecutor::MakeTransport {
    auto options = worker_options(isolation);
    options.environment = device.environment;
    if (simulated != nullptr) {
      options.environment.emplace_back(workload::VirtualClock::kVariable, simulated->path());
      options.clock = simulated;
    }
    if (slot == 0) options.on_progress = on_progress;
    return [options](std::function<bool()> cancelled) mutable {
      options.cancelled = std::move(cancelled);
      auto transport = std::make_unique<LocalTransport>();
      add_worker_jobs(*transport, std::move(options));
      return transport;
    };
  };
  return executor_on(gpus, maker, {std::shared_ptr<void>(), static_cast<const base::Clock*>(simulated)});
}

base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device) {
  constexpr std::string_view kGpu = "gpu:";
  execute::GpuGroup gpus;
  if (device.rfind(kGpu, 0) == 0) {
    const auto environment = execute::local_environment();
    for (const auto& gpu : environment.gpus)
      if (gpu.uuid == device.substr(kGpu.size())) gpus = {gpu};
    if (gpus.empty())
      return base::fail(base::ErrorCode::not_found, "GPU {} of that trial is not in this machine; there is {}",
                        device.substr(kGpu.size()),
                        environment.gpus.empty() ? "none" : execute::gpu_list(environment.gpus))
          .hint("rerun it on the machine that has it");
  }
  return make_executor(execute::Isolation::trial, gpus, {});
}

std::unique_ptr<execute::Executor> make_training_executor(
    const BenchRunners& runners, const std::string& gpu_uuid,
    std::function<void(const execute::JobProgress&)> on_progress) {
  execute::TrainingOptions options;
  options.factory = runners.factory;
  options.clock = runners.clock;
  options.process_waits = runners.process_waits;
  options.gpu_uuid = gpu_uuid;
  options.on_progress = std::move(on_progress);
  const auto make = [options](std::function<bool()> cancelled) mutable {
    options.cancelled = std::move(cancelled);
    auto transport = std::make_unique<LocalTransport>();
    add_training_jobs(*transport, std::move(options));
    return transport;
  };
  return one_slot(gpu_uuid.empty() ? "cpu" : "gpu:" + gpu_uuid, make, runners.clock);
}

std::unique_ptr<execute::Executor> make_command_executor(std::vector<std::string> gpu_uuids,
                                                         std::function<void(const execute::JobProgress&)> on_progress) {
  execute::CommandOptions options;
  options.supervisor = {base::executable_path().string(), "supervise", "--"};
  options.gpu_uuids = std::move(gpu_uuids);
  options.on_progress = std::move(on_progress);
  const auto name = options.gpu_uuids.empty() ? std::string("cpu") : "gpu:" + options.gpu_uuids.front();
  const auto make = [options](std::function<bool()> cancelled) mutable {
    options.cancelled = std::move(cancelled);
    auto transport = std::make_unique<LocalTransport>();
    add_command_jobs(*transport, std::move(options));
    return transport;
  };
  return one_slot(name, make, nullptr);
}

}  // namespace ridgeline::app
