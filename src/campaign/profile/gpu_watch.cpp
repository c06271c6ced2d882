// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/gpu_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "gpu/nvml_device.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::campaign {
namespace {

constexpr auto kSampleEvery = std::chrono::milliseconds(100);
constexpr std::int64_t kAroundNs = 200'000'000;  // two samples

struct WatchedGpu {
  gpu::NvmlDevice device;
  std::string uuid;
};

std::vector<WatchedGpu> open_gpus(const std::vector<std::string>& candidates) {
  std::vector<WatchedGpu> out;
  const auto api = gpu::NvmlApi::load(candidates);
  if (!api) return out;
  const auto count = (*api)->device_count();
  for (unsigned i = 0; count && i < *count; ++i) {
    const auto handle = (*api)->device_by_index(i);
    if (!handle) continue;
    WatchedGpu one{gpu::NvmlDevice(*api, *handle), {}};
    one.uuid = one.device.uuid();
    if (!one.uuid.empty()) out.push_back(std::move(one));
  }
  return out;
}

std::int32_t rounded(std::optional<double> value, double factor = 1) {
  return value ? static_cast<std::int32_t>(std::lround(*value * factor)) : -1;
}

trace::GpuSample sample_of(const gpu::NvmlDevice& device) {
  constexpr double kMilli = 1'000;
  trace::GpuSample out;
  out.time_ns = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  out.sm_mhz = rounded(device.clock_mhz(gpu::nvml::kSmClock));
  out.memory_mhz = rounded(device.clock_mhz(gpu::nvml::kMemoryClock));
  out.power_mw = rounded(device.power_w(), kMilli);
  out.temperature_c = rounded(device.temperature_c());
  if (const auto reasons = device.clock_reasons()) out.reasons = static_cast<std::int64_t>(*reasons);
  return out;
}

struct Extent {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

Extent extent_of(const trace::Trace& trace) {
  Extent out;
  trace::each_table(trace, [&](trace::BlockKind, const auto& table) {
    if constexpr (requires { table.start_ns; })
      for (std::size_t i = 0; i < table.size(); ++i) {
        out.first_ns = std::min(out.first_ns, table.start_ns[i]);
        out.last_ns = std::max(out.last_ns, table.start_ns[i] + table.duration_ns[i]);
      }
  });
  return out;
}

}  // namespace

GpuWatch::GpuWatch(std::vector<std::string> nvml) : nvml_(std::move(nvml)) {
  watch_.start([this] { watch(); });
}

GpuWatch::Samples GpuWatch::stop() {
  watch_.stop();
  return std::move(samples_);
}

void GpuWatch::watch() {
  const auto gpus = open_gpus(nvml_);
  if (gpus.empty()) return;
  for (bool ends = false; !ends;) {
    for (const auto& gpu : gpus) samples_[gpu.uuid].push_back(sample_of(gpu.device));
    ends = watch_.wait(kSampleEvery);
  }
}

void add_gpu_samples(const GpuWatch::Samples& samples, const std::map<std::string, std::int32_t>& devices,
                     trace::Trace& trace) {
  std::set<std::int32_t> used;
  for (const auto& lane : trace.gpu_lanes) used.insert(lane.device);
  const auto extent = extent_of(trace);
  for (const auto& [uuid, all] : samples) {
    const auto known = devices.find(uuid);
    const bool is_only = devices.empty() && samples.size() == 1 && used.size() == 1;
    if (known == devices.end() && !is_only) continue;
    const auto device = known != devices.end() ? known->second : *used.begin();
    if (used.count(device) == 0) continue;
    for (auto sample : all) {
      if (sample.time_ns < extent.first_ns - kAroundNs || sample.time_ns > extent.last_ns + kAroundNs) continue;
      sample.device = device;
      trace.gpu_samples.push_back(sample);
    }
  }
  std::stable_sort(trace.gpu_samples.begin(), trace.gpu_samples.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
}

}  // namespace ridgeline::campaign
