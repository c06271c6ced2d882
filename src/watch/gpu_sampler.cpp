// SPDX-License-Identifier: Apache-2.0
#include "watch/gpu_sampler.hpp"

#include <utility>

#include "host/processes.hpp"
#include "host/this_process.hpp"

namespace ridgeline::watch {
namespace {

constexpr std::size_t kLongestName = 60;

}  // namespace

GpuSampler::GpuSampler(std::string uuid, const base::Clock& clock, std::vector<std::string> candidates)
    : uuid_(std::move(uuid)), clock_(clock), candidates_(std::move(candidates)) {}

const gpu::NvmlDevice* GpuSampler::device() {
  if (uuid_.empty()) return nullptr;
  if (device_ && device_->memory()) return &*device_;
  device_.reset();
  looked_.reset();
  const auto api = gpu::NvmlApi::load(candidates_);
  if (!api) return nullptr;
  const auto handle = (*api)->device_by_uuid(uuid_);
  if (!handle) return nullptr;
  gpu::NvmlDevice found(*api, *handle);
  if (!found.memory()) return nullptr;  // lost: every GPU that answers can tell its memory
  device_.emplace(std::move(found));
  return &*device_;
}

std::optional<double> GpuSampler::busy_percent() {
  const auto* gpu = device();
  return gpu != nullptr ? gpu->utilization_percent() : std::nullopt;
}

std::optional<schema::GpuTelemetry> GpuSampler::sample() {
  const auto* gpu = device();
  if (gpu == nullptr) return std::nullopt;
  schema::GpuTelemetry out;
  out.uuid = uuid_;
  out.sm_clock_mhz = gpu->clock_mhz(gpu::nvml::kSmClock);
  if (const auto memory = gpu->memory()) {
    out.memory_free_before_bytes = static_cast<std::int64_t>(memory->free);
    out.device_used_before_bytes = static_cast<std::int64_t>(memory->used);
  }
  if (const auto processes = gpu->compute_processes()) out.neighbours_before = *processes;
  const auto counters = gpu->throttle_counters();
  const auto now = clock_.now();
  if (looked_) {
    out.timed_to_s = base::to_seconds(now - *looked_);
    for (std::size_t i = 0; i < counters.size(); ++i)
      if (counters[i] && counters_[i] && *counters[i] >= *counters_[i])
        out.throttle_ns[gpu::kThrottleCauses[i]] = static_cast<double>(*counters[i] - *counters_[i]);
  }
  if (const auto reasons = gpu->clock_reasons()) out.clock_reasons = schema::clock_reason_names(*reasons);
  counters_ = counters;
  looked_ = now;
  return out;
}

std::map<std::int64_t, std::string> process_names(const std::optional<schema::GpuTelemetry>& gpu) {
  std::map<std::int64_t, std::string> names;
  if (!gpu || !host::sees_host_processes()) return names;
  for (const auto* list : {&gpu->neighbours_before, &gpu->neighbours_after})
    for (const auto& one : *list) {
      auto name = host::Processes().command_line(static_cast<pid_t>(one.pid), kLongestName);
      if (!name.empty()) names[one.pid] = std::move(name);
    }
  return names;
}

}  // namespace ridgeline::watch
