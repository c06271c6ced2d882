// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_tally.hpp"

#include <algorithm>

namespace ridgeline::execute {

GpuTally::GpuTally(const std::vector<std::string>& uuids, const std::vector<std::string>& nvml) {
  if (uuids.empty()) return;
  const auto api = gpu::NvmlApi::load(nvml);
  if (!api) return;
  for (const auto& uuid : uuids)
    if (const auto device = (*api)->device_by_uuid(uuid)) devices_.emplace_back(*api, *device);
}

std::optional<std::int64_t> GpuTally::used_bytes() const {
  std::optional<std::int64_t> sum;
  for (const auto& device : devices_)
    if (const auto memory = device.memory()) sum = sum.value_or(0) + static_cast<std::int64_t>(memory->used);
  return sum;
}

void GpuTally::begin() {
  used_before_ = used_bytes().value_or(0);
  peak_.reset();
  busy_sum_ = power_sum_ = 0;
  busy_looks_ = power_looks_ = 0;
  busy_now_.reset();
}

void GpuTally::look() {
  if (const auto used = used_bytes()) peak_ = std::max(peak_.value_or(0), *used - used_before_);
  double busy = 0;
  double power = 0;
  std::size_t with_busy = 0;
  std::size_t with_power = 0;
  for (const auto& device : devices_) {
    if (const auto percent = device.utilization_percent()) {
      busy += *percent / 100;
      ++with_busy;
    }
    if (const auto watts = device.power_w()) {
      power += *watts;
      ++with_power;
    }
  }
  busy_now_.reset();
  if (with_busy > 0) {
    busy_now_ = busy / static_cast<double>(with_busy);
    busy_sum_ += *busy_now_;
    ++busy_looks_;
  }
  if (with_power > 0) {
    power_sum_ += power;
    ++power_looks_;
  }
}

std::map<std::string, double> GpuTally::metrics() const {
  std::map<std::string, double> out;
  if (busy_looks_ > 0) out["gpu_busy"] = busy_sum_ / static_cast<double>(busy_looks_);
  if (peak_) out["gpu_memory_gb"] = static_cast<double>(*peak_) * 1e-9;
  if (power_looks_ > 0) out["gpu_power_w"] = power_sum_ / static_cast<double>(power_looks_);
  return out;
}

}  // namespace ridgeline::execute
