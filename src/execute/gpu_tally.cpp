// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_tally.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::execute {
namespace {

/// Of what is known, in percent.
struct Mean {
  double sum = 0;
  int count = 0;
  void add(const std::optional<double>& percent) {
    if (!percent) return;
    sum += *percent;
    ++count;
  }
  [[nodiscard]] std::optional<double> share() const {
    return count == 0 ? std::nullopt : std::optional(sum / count / 100);
  }
};

}  // namespace

GpuTally::GpuTally(const std::vector<std::string>& uuids, const std::vector<std::string>& nvml) {
  if (uuids.empty()) return;
  const auto api = gpu::NvmlApi::load(nvml);
  if (!api) return;
  for (const auto& uuid : uuids) {
    const auto device = (*api)->device_by_uuid(uuid);
    if (!device) continue;
    Watched watched{gpu::NvmlDevice(*api, *device), std::nullopt};
    if (auto gpm = gpu::GpmReader::open(*api, *device)) watched.gpm.emplace(std::move(*gpm));
    devices_.push_back(std::move(watched));
  }
}

std::optional<std::int64_t> GpuTally::used_bytes() const {
  std::optional<std::int64_t> sum;
  for (const auto& watched : devices_)
    if (const auto memory = watched.device.memory()) sum = sum.value_or(0) + static_cast<std::int64_t>(memory->used);
  return sum;
}

void GpuTally::begin() {
  used_before_ = used_bytes().value_or(0);
  peak_.reset();
  busy_sum_ = util_sum_ = power_sum_ = 0;
  busy_looks_ = util_looks_ = power_looks_ = 0;
  busy_now_.reset();
  for (auto& watched : devices_)
    if (watched.gpm) static_cast<void>(watched.gpm->read());  // where the first look's time begins
}

void GpuTally::look() {
  if (const auto used = used_bytes()) peak_ = std::max(peak_.value_or(0), *used - used_before_);
  Mean busy;
  Mean util;
  double power = 0;
  bool any_power = false;
  for (auto& [device, gpm] : devices_) {
    const auto percent = device.utilization_percent();
    const auto reading = gpm ? gpm->read() : std::nullopt;
    util.add(percent);
    busy.add(reading && reading->graphics_percent ? reading->graphics_percent : percent);
    if (const auto watts = device.power_w()) {
      power += *watts;
      any_power = true;
    }
  }
  busy_now_ = busy.share();
  if (busy_now_) {
    busy_sum_ += *busy_now_;
    ++busy_looks_;
  }
  if (const auto share = util.share()) {
    util_sum_ += *share;
    ++util_looks_;
  }
  if (any_power) {
    power_sum_ += power;
    ++power_looks_;
  }
}

std::map<std::string, double> GpuTally::metrics() const {
  std::map<std::string, double> out;
  if (busy_looks_ > 0) out["gpu_busy"] = busy_sum_ / static_cast<double>(busy_looks_);
  if (util_looks_ > 0) out["gpu_util"] = util_sum_ / static_cast<double>(util_looks_);
  if (peak_) out["gpu_memory_gb"] = static_cast<double>(*peak_) * 1e-9;
  if (power_looks_ > 0) out["gpu_power_w"] = power_sum_ / static_cast<double>(power_looks_);
  return out;
}

}  // namespace ridgeline::execute
