// SPDX-License-Identifier: Apache-2.0
#include "monitor/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgeline::monitor {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

std::optional<double> percent(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return 100 * *part / *whole;
}

std::optional<double> value_of(const GpuReading& gpu, Series series) {
  if (gpu.state != GpuState::ok) return std::nullopt;
  switch (series) {
    case Series::utilization: return gpu.utilization_percent;
    case Series::sm: return gpu.sm_percent;
    case Series::tensor: return gpu.tensor_percent;
    case Series::dram: return gpu.dram_percent;
    case Series::memory: return percent(gpu.memory_used_bytes, gpu.memory_total_bytes);
    case Series::power: return gpu.power_w;
    case Series::temperature: return gpu.temperature_c;
    case Series::clock: return gpu.sm_clock_mhz;
    case Series::pcie_in: return gpu.pcie_received_bytes_per_s;
    case Series::pcie_out: return gpu.pcie_sent_bytes_per_s;
    case Series::nvlink_in: return gpu.nvlink_received_bytes_per_s;
    case Series::nvlink_out: return gpu.nvlink_sent_bytes_per_s;
    case Series::count: break;
  }
  return std::nullopt;
}

}  // namespace

void History::add(const Snapshot& snapshot) {
  if (length_ == 0) return;
  since_start_s_.resize(length_);
  since_start_s_[next_] = snapshot.since_start_s;
  for (const auto& gpu : snapshot.gpus) gpus_.try_emplace(gpu.index);
  for (auto& [index, rings] : gpus_) {
    const auto gpu = std::find_if(snapshot.gpus.begin(), snapshot.gpus.end(),
                                  [number = index](const GpuReading& reading) { return reading.index == number; });
    for (std::size_t i = 0; i < rings.size(); ++i)
      put(rings[i], gpu != snapshot.gpus.end() ? value_of(*gpu, static_cast<Series>(i)) : std::nullopt);
  }
  put(host_[0], snapshot.host.cpu_percent);
  put(host_[1], percent(snapshot.host.memory_used_bytes, snapshot.host.memory_total_bytes));
  next_ = (next_ + 1) % length_;
  size_ = std::min(size_ + 1, length_);
}

void History::put(Ring& ring, const std::optional<double>& value) {
  if (ring.values.empty()) ring.values.assign(length_, kUnknown);
  ring.values[next_] = value ? static_cast<float>(*value) : kUnknown;
}

float History::look_up(const Ring& ring, std::size_t age) const {
  if (age >= size_ || ring.values.empty()) return kUnknown;
  return ring.values[slot(age)];
}

double History::seconds_back(std::size_t readings) const {
  return size_ == 0 ? 0 : since_start_s_[slot(0)] - since_start_s_[slot(std::min(readings, size_ - 1))];
}

float History::at(int gpu, Series series, std::size_t age) const {
  const auto found = gpus_.find(gpu);
  return found == gpus_.end() ? kUnknown : look_up(found->second[static_cast<std::size_t>(series)], age);
}

float History::at(HostSeries series, std::size_t age) const {
  return look_up(host_[static_cast<std::size_t>(series)], age);
}

}  // namespace ridgeline::monitor
