// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/bandwidth_watch.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/gpu_inventory.hpp"
#include "gpu/nvml_live.hpp"

namespace ridgeline::campaign {
namespace {

constexpr auto kLookEvery = std::chrono::seconds(1);
constexpr double kLeastBetweenLooks = 0.05;  // seconds: values are not steady before

/// Sums over the looks at one GPU.
struct Watched {
  gpu::GpmReader reader;
  schema::ProfileBandwidth row;
  double bytes = 0;
  double worked_s = 0;
};

std::vector<Watched> open_all(const std::vector<std::string>& candidates) {
  std::vector<Watched> out;
  const auto api = gpu::NvmlApi::load(candidates);
  if (!api) return out;
  auto inventory = gpu::GpuInventory::read(candidates);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) inventory.keep_visible(visible);
  for (const auto& gpu : inventory.gpus) {
    if (!gpu.index) continue;
    const auto device = (*api)->device_by_index(static_cast<unsigned>(*gpu.index));
    if (!device) continue;
    const auto peak = gpu::NvmlLive(*api, *device).peak_memory_bandwidth();
    if (!peak) continue;
    auto reader = gpu::GpmReader::open(*api, *device);
    if (!reader) continue;
    Watched one{*std::move(reader), {}};
    one.row.device = *gpu.index;
    one.row.name = gpu.name;
    one.row.peak_bytes_per_s = *peak;
    out.push_back(std::move(one));
  }
  return out;
}

void look(Watched& one, double seconds) {
  const auto reading = one.reader.read();
  if (!reading || !reading->dram_percent) return;
  one.row.seconds += seconds;
  one.bytes += *reading->dram_percent / 100 * one.row.peak_bytes_per_s * seconds;
  one.worked_s += reading->graphics_percent.value_or(0) / 100 * seconds;
}

}  // namespace

BandwidthWatch::BandwidthWatch(std::vector<std::string> nvml) : nvml_(std::move(nvml)) {
  watch_.start([this] { watch(); });
}

std::vector<schema::ProfileBandwidth> BandwidthWatch::stop() {
  watch_.stop();
  return std::move(rows_);
}

void BandwidthWatch::watch() {
  auto gpus = open_all(nvml_);
  if (gpus.empty()) return;
  const auto& clock = base::system_clock();
  auto looked = clock.now();
  for (auto& gpu : gpus) look(gpu, 0);
  for (bool ends = false; !ends;) {
    ends = watch_.wait(kLookEvery);
    const auto now = clock.now();
    const auto seconds = base::to_seconds(now - looked);
    if (seconds < kLeastBetweenLooks) continue;
    looked = now;
    for (auto& gpu : gpus) look(gpu, seconds);
  }
  for (auto& gpu : gpus) {
    if (gpu.row.seconds <= 0 || gpu.worked_s <= 0) continue;
    gpu.row.bytes_per_s = gpu.bytes / gpu.row.seconds;
    rows_.push_back(std::move(gpu.row));
  }
}

}  // namespace ridgeline::campaign
