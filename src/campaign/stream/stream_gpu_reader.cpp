// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_gpu_reader.hpp"

#include <utility>

#include "execute/gpu_observer.hpp"

namespace ridgeline::campaign {
namespace {

constexpr base::Nanoseconds kReadEvery = std::chrono::milliseconds(900);  ///< statuses come every 200 ms, not exactly

}  // namespace

StreamGpuReader::StreamGpuReader(const std::string& device, const base::Clock& clock,
                                 const std::vector<std::string>& nvml_candidates)
    : clock_(clock) {
  const auto uuid = execute::gpu_uuid_of(device);
  if (uuid.empty()) return;
  const auto api = gpu::NvmlApi::load(nvml_candidates);
  if (!api) return;
  const auto handle = (*api)->device_by_uuid(uuid);
  if (!handle) return;
  device_.emplace(*api, *handle);
  if (auto gpm = gpu::GpmReader::open(*api, *handle)) gpm_.emplace(std::move(*gpm));
}

const std::optional<schema::StreamGpu>& StreamGpuReader::read() {
  if (!device_) return latest_;
  const auto now = clock_.now();
  if (read_at_ && now - *read_at_ < kReadEvery) return latest_;
  read_at_ = now;
  schema::StreamGpu gpu;
  gpu.utilization_percent = device_->utilization_percent();
  if (const auto memory = device_->memory()) {
    gpu.memory_used_bytes = static_cast<double>(memory->used);
    gpu.memory_total_bytes = static_cast<double>(memory->total);
  }
  gpu.temperature_c = device_->temperature_c();
  gpu.power_w = device_->power_w();
  if (const auto seen = gpm_ ? gpm_->read() : std::nullopt) {
    gpu.sm_percent = seen->sm_percent;
    gpu.tensor_percent = seen->tensor_percent;
  }
  latest_ = gpu;
  return latest_;
}

}  // namespace ridgeline::campaign
