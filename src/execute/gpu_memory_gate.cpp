// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_memory_gate.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "execute/gpu_observer.hpp"
#include "execute/messages.hpp"
#include "gpu/nvml_device.hpp"

namespace ridgeline::execute {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);

}  // namespace

std::optional<schema::QualityFlag> GpuMemoryGate::enter(const std::string& device, bool worker_there) {
  const auto uuid = gpu_uuid_of(device);
  if (uuid.empty() || worker_there) return std::nullopt;
  auto free = reader_(uuid);
  if (!free) return std::nullopt;
  const bool owed = std::exchange(owed_, false) && uuid == uuid_ && free_before_;
  uuid_ = uuid;
  std::optional<schema::QualityFlag> flag;
  if (owed) {
    const auto begun = clock_.now();
    const auto missing = [&] { return *free_before_ - *free; };
    while (missing() > kToleranceBytes && base::to_seconds(clock_.now() - begun) < kPatienceS) {
      clock_.sleep_for(kPollInterval);
      free = reader_(uuid);
      if (free) continue;
      owed_ = true;
      return std::nullopt;
    }
    if (missing() > kToleranceBytes)
      flag = schema::QualityFlag{
          schema::FlagLevel::notice, "gpu_memory_not_released",
          messages::gpu_memory_missing({.missing_mb = static_cast<double>(missing()) * 1e-6, .waited_s = kPatienceS})};
  }
  free_before_ = free;
  return flag;
}

void GpuMemoryGate::look(const std::string& device, bool worker_there) {
  if (!owed_) static_cast<void>(enter(device, worker_there));
}

GpuMemoryGate::Reader nvml_free_memory() {
  struct State {
    bool tried = false;
    std::shared_ptr<const gpu::NvmlApi> api;
  };
  return [state = std::make_shared<State>()](const std::string& uuid) -> std::optional<std::int64_t> {
    if (!state->tried) {
      state->tried = true;
      if (auto api = gpu::NvmlApi::load()) state->api = std::move(*api);
    }
    if (!state->api) return std::nullopt;
    const auto handle = state->api->device_by_uuid(uuid);
    if (!handle) return std::nullopt;
    const auto memory = gpu::NvmlDevice(state->api, *handle).memory();
    return memory ? std::optional(static_cast<std::int64_t>(memory->free)) : std::nullopt;
  };
}

}  // namespace ridgeline::execute
