// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_health.hpp"

#include <array>

namespace ridgeline::gpu {
namespace {

using nvml::Device;
using nvml::kSuccess;
using nvml::Status;

// nvmlMemoryErrorType_t and nvmlEccCounterType_t
constexpr int kCorrected = 0;
constexpr int kUncorrected = 1;
constexpr int kSinceBoot = 0;
constexpr int kEver = 1;

template <typename Function>
Function find(const NvmlApi& api, const char* name) {
  return reinterpret_cast<Function>(api.symbol(name));
}

std::optional<int> read_unsigned(const NvmlApi& api, const char* name, Device device) {
  const auto ask = find<Status (*)(Device, unsigned*)>(api, name);
  unsigned value = 0;
  if (ask == nullptr || ask(device, &value) != kSuccess) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace

EccCounts NvmlHealth::ecc() const {
  const auto ask = find<Status (*)(Device, int, int, unsigned long long*)>(*api_, "nvmlDeviceGetTotalEccErrors");
  const auto count = [&](int type, int counter) -> std::optional<std::uint64_t> {
    unsigned long long errors = 0;
    if (ask == nullptr || ask(device_, type, counter, &errors) != kSuccess) return std::nullopt;
    return errors;
  };
  return {count(kUncorrected, kSinceBoot), count(kUncorrected, kEver), count(kCorrected, kSinceBoot)};
}

std::optional<RemappedRows> NvmlHealth::remapped_rows() const {
  const auto ask =
      find<Status (*)(Device, unsigned*, unsigned*, unsigned*, unsigned*)>(*api_, "nvmlDeviceGetRemappedRows");
  RemappedRows rows;
  unsigned pending = 0;
  unsigned failed = 0;
  if (ask == nullptr || ask(device_, &rows.correctable, &rows.uncorrectable, &pending, &failed) != kSuccess)
    return std::nullopt;
  rows.pending = pending != 0;
  rows.failed = failed != 0;
  return rows;
}

std::optional<std::string> NvmlHealth::compute_mode() const {
  constexpr std::array kModes{"default", "exclusive_thread", "prohibited", "exclusive_process"};
  const auto mode = read_unsigned(*api_, "nvmlDeviceGetComputeMode", device_);
  if (!mode || *mode < 0 || static_cast<std::size_t>(*mode) >= kModes.size()) return std::nullopt;
  return kModes[static_cast<std::size_t>(*mode)];
}

std::optional<int> NvmlHealth::mig_instances() const {
  const auto most = read_unsigned(*api_, "nvmlDeviceGetMaxMigDeviceCount", device_);
  const auto ask = find<Status (*)(Device, unsigned, Device*)>(*api_, "nvmlDeviceGetMigDeviceHandleByIndex");
  if (!most || ask == nullptr) return std::nullopt;
  int count = 0;
  for (int index = 0; index < *most; ++index) {
    Device instance = nullptr;
    if (ask(device_, static_cast<unsigned>(index), &instance) == kSuccess) ++count;
  }
  return count;
}

std::vector<std::string> missing_functions(const NvmlApi& api) {
  const auto& f = api.functions();
  // Those of NvmlApi may go by an older name, so that the pointer counts; the others are looked up by name alone.
  const std::array<std::pair<const char*, bool>, 15> resolved{{
      {"nvmlDeviceGetMemoryInfo", f.memory_info != nullptr},
      {"nvmlDeviceGetClockInfo", f.clock != nullptr},
      {"nvmlDeviceGetMaxClockInfo", f.max_clock != nullptr},
      {"nvmlDeviceGetTemperature", f.temperature != nullptr},
      {"nvmlDeviceGetPowerUsage", f.power_usage != nullptr},
      {"nvmlDeviceGetEnforcedPowerLimit", f.power_limit != nullptr},
      {"nvmlDeviceGetUtilizationRates", f.utilization != nullptr},
      {"nvmlDeviceGetCurrentClocksEventReasons", f.clock_reasons != nullptr},
      {"nvmlDeviceGetComputeRunningProcesses_v3", f.compute_processes != nullptr},
      {"nvmlDeviceGetViolationStatus", f.violation_status != nullptr},
      {"nvmlDeviceGetFieldValues", f.field_values != nullptr},
      {"nvmlDeviceGetTotalEnergyConsumption", f.total_energy != nullptr},
      {"nvmlDeviceGetMigMode", f.mig_mode != nullptr},
      {"nvmlDeviceGetEccMode", f.ecc_mode != nullptr},
      {"nvmlDeviceGetPersistenceMode", f.persistence_mode != nullptr},
  }};
  std::vector<std::string> missing;
  for (const auto& [name, found] : resolved)
    if (!found) missing.emplace_back(name);
  for (const auto* name :
       {"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows", "nvmlDeviceGetComputeMode",
        "nvmlDeviceGetNvLinkState", "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth"})
    if (api.symbol(name) == nullptr) missing.emplace_back(name);
  return missing;
}

}  // namespace ridgeline::gpu
