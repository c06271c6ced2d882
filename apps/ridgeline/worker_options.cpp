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

std::string slot_name(const std::string& gpu_uuid) { return gpu_uuid.empty() ? "cpu" : "gpu:" + gpu_uuid; }

std::vector<std::string> supervisor() { return {base::executable_path().string(), "supervise", "--"}; }

/// A transport on this machine whose jobs are answered by what `add` adds.
template <typename Options>
SlotExecutor::MakeTransport local_maker(Options options, void (*add)(LocalTransport&, Options)) {
  return [options = std::move(options), add](std::function<bool()> cancelled) mutable {
    options.cancelled = std::move(cancelled);
    auto transport = std::make_unique<LocalTransport>();
    add(*transport, std::move(options));
    return transport;
  };
}

}  // namespace

std::unique_ptr<execute::Executor> make_executor(execute::Isolation isolation, const execute::GpuGroup& gpus,
                                                 std::function<void(const execute::JobProgress&)> on_progress,
                                                 const workload::VirtualClock* simulated,
                                                 const Variables& environment) {
  std::vector<execute::DeviceSlot> devices;
  for (const auto& gpu : gpus) devices.push_back({slot_name(gpu.uuid), execute::gpu_environment(gpu)});
  if (devices.empty()) devices.push_back({slot_name(""), {}});
  std::vector<SlotExecutor::Slot> slots;
  for (const auto& device : devices) {
    auto options = worker_options(isolation);
    options.environment = device.environment;
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    if (simulated != nullptr) {
      options.environment.emplace_back(workload::VirtualClock::kVariable, simulated->path());
      options.clock = simulated;
    }
    if (slots.empty()) options.on_progress = on_progress;
    slots.push_back({device, [options = std::move(options)](std::function<bool()> cancelled) mutable {
                       auto transport = std::make_unique<LocalTransport>();
                       execute::CommandOptions commands;
                       commands.supervisor = supervisor();
                       commands.environment = options.environment;
                       commands.cancelled = cancelled;
                       execute::add_command_jobs(*transport, std::move(commands));
                       options.cancelled = std::move(cancelled);
                       execute::add_worker_jobs(*transport, std::move(options));
                       return transport;
                     }});
  }
  return std::make_unique<SlotExecutor>(
      std::move(slots), interrupt(),
      std::shared_ptr<const base::Clock>(std::shared_ptr<void>(), static_cast<const base::Clock*>(simulated)));
}

base::Result<execute::GpuGroup> gpus_of(const std::string& device) {
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
  return gpus;
}

base::Result<std::unique_ptr<execute::Executor>> make_executor_for(const std::string& device) {
  RL_TRY_ASSIGN(const auto gpus, gpus_of(device));
  return make_executor(execute::Isolation::trial, gpus, {});
}

std::unique_ptr<execute::Executor> make_training_executor(
    const std::vector<TrainingSlot>& places, std::function<void(const execute::JobProgress&)> on_progress) {
  std::vector<SlotExecutor::Slot> slots;
  for (const auto& place : places) {
    execute::TrainingOptions options;
    options.factory = place.runners.factory;
    options.clock = place.runners.clock;
    options.process_waits = place.runners.process_waits;
    options.gpu_uuid = place.gpu_uuid;
    if (slots.empty()) options.on_progress = on_progress;
    slots.push_back({{slot_name(place.gpu_uuid), {}}, local_maker(std::move(options), &execute::add_training_jobs)});
  }
  return std::make_unique<SlotExecutor>(std::move(slots), interrupt(), places.front().runners.clock);
}

std::unique_ptr<execute::Executor> make_command_executor(const std::vector<CommandSlot>& places,
                                                         std::function<void(const execute::JobProgress&)> on_progress) {
  std::vector<SlotExecutor::Slot> slots;
  for (const auto& place : places) {
    execute::CommandOptions options;
    options.supervisor = supervisor();
    options.environment = place.environment;
    options.gpu_uuids = place.gpu_uuids;
    if (slots.empty()) options.on_progress = on_progress;
    const auto name = slot_name(place.gpu_uuids.empty() ? "" : place.gpu_uuids.front());
    slots.push_back({{name, place.environment}, local_maker(std::move(options), &execute::add_command_jobs)});
  }
  return std::make_unique<SlotExecutor>(std::move(slots), interrupt());
}

}  // namespace ridgeline::app
