// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_api.hpp"

#include <array>
#include <type_traits>

namespace ridgeline::gpu {

using base::ErrorCode;
using base::Result;

base::Result<std::shared_ptr<const NvmlApi>> NvmlApi::load(const std::vector<std::string>& candidates) {
  RL_TRY_ASSIGN(auto library, base::DynamicLibrary::open(candidates));
  const std::shared_ptr<NvmlApi> api(new NvmlApi(std::move(library)));
  api->resolve();
  if (api->functions_.init == nullptr)
    return base::fail(ErrorCode::unavailable, "{} has no nvmlInit_v2: it is no NVIDIA management library",
                      api->path().string());
  if (const auto status = api->functions_.init(); status != nvml::kSuccess) {
    auto error = api->error(status, fmt::format("starting {}", api->path().string()));
    error.code = ErrorCode::unavailable;
    return tl::unexpected<base::Error>(std::move(error));
  }
  api->started_ = true;
  return std::shared_ptr<const NvmlApi>(api);
}

NvmlApi::~NvmlApi() {
  if (started_ && functions_.shutdown != nullptr) functions_.shutdown();
}

void NvmlApi::resolve() {
  const auto find = [&](auto& function, std::initializer_list<const char*> names) {
    for (const auto* name : names)
      if (void* symbol = library_.symbol(name); symbol != nullptr) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
        return;
      }
  };
  auto& f = functions_;
  find(f.init, {"nvmlInit_v2"});
  find(f.shutdown, {"nvmlShutdown"});
  find(f.error_string, {"nvmlErrorString"});
  find(f.driver_version, {"nvmlSystemGetDriverVersion"});
  find(f.cuda_driver_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find(f.device_count, {"nvmlDeviceGetCount_v2"});
  find(f.device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(f.device_by_uuid, {"nvmlDeviceGetHandleByUUID"});
  find(f.name, {"nvmlDeviceGetName"});
  find(f.uuid, {"nvmlDeviceGetUUID"});
  find(f.pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find(f.architecture, {"nvmlDeviceGetArchitecture"});
  find(f.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  find(f.core_count, {"nvmlDeviceGetNumGpuCores"});
  find(f.memory_info, {"nvmlDeviceGetMemoryInfo"});
  find(f.clock, {"nvmlDeviceGetClockInfo"});
  find(f.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(f.temperature, {"nvmlDeviceGetTemperature"});
  find(f.power_usage, {"nvmlDeviceGetPowerUsage"});
  find(f.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(f.default_power_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(f.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(f.clock_reasons, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  // Version 1 of the process list has another layout.
  find(f.compute_processes, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(f.violation_status, {"nvmlDeviceGetViolationStatus"});
  find(f.field_values, {"nvmlDeviceGetFieldValues"});
  find(f.total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(f.mig_mode, {"nvmlDeviceGetMigMode"});
  find(f.ecc_mode, {"nvmlDeviceGetEccMode"});
  find(f.persistence_mode, {"nvmlDeviceGetPersistenceMode"});
  find(f.accounting_mode, {"nvmlDeviceGetAccountingMode"});
  find(f.accounting_stats, {"nvmlDeviceGetAccountingStats"});
  find(f.device_by_pci, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  find(f.memory_bus_width, {"nvmlDeviceGetMemoryBusWidth"});
  find(f.performance_state, {"nvmlDeviceGetPerformanceState"});
  find(f.fan_speed, {"nvmlDeviceGetFanSpeed"});
  find(f.temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  find(f.encoder_utilization, {"nvmlDeviceGetEncoderUtilization"});
  find(f.decoder_utilization, {"nvmlDeviceGetDecoderUtilization"});
  find(f.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(f.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(f.max_pcie_generation, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(f.max_pcie_width, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(f.pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  find(f.nvlink_state, {"nvmlDeviceGetNvLinkState"});
  find(f.graphics_processes, {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  find(f.process_utilization, {"nvmlDeviceGetProcessUtilization"});
  find(f.max_mig_devices, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(f.mig_device, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(f.gpu_instance_id, {"nvmlDeviceGetGpuInstanceId"});
  find(f.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(f.gpm_sample_alloc, {"nvmlGpmSampleAlloc"});
  find(f.gpm_sample_free, {"nvmlGpmSampleFree"});
  find(f.gpm_sample_get, {"nvmlGpmSampleGet"});
  find(f.gpm_mig_sample_get, {"nvmlGpmMigSampleGet"});
  find(f.gpm_metrics_get, {"nvmlGpmMetricsGet"});
}

std::string NvmlApi::driver_version() const {
  std::array<char, 96> text{};
  if (functions_.driver_version == nullptr ||
      functions_.driver_version(text.data(), static_cast<unsigned>(text.size())) != nvml::kSuccess)
    return "";
  return text.data();
}

std::string NvmlApi::cuda_version() const {
  int version = 0;
  if (functions_.cuda_driver_version == nullptr || functions_.cuda_driver_version(&version) != nvml::kSuccess)
    return "";
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<unsigned> NvmlApi::device_count() const {
  if (functions_.device_count == nullptr)
    return base::fail(ErrorCode::unsupported, "{} has no nvmlDeviceGetCount_v2", path().string());
  unsigned count = 0;
  if (const auto status = functions_.device_count(&count); status != nvml::kSuccess)
    return tl::unexpected<base::Error>(error(status, "counting the GPUs"));
  return count;
}

Result<nvml::Device> NvmlApi::device_by_index(unsigned index) const {
  if (functions_.device_by_index == nullptr)
    return base::fail(ErrorCode::unsupported, "{} has no nvmlDeviceGetHandleByIndex_v2", path().string());
  nvml::Device device = nullptr;
  if (const auto status = functions_.device_by_index(index, &device); status != nvml::kSuccess)
    return tl::unexpected<base::Error>(error(status, fmt::format("opening GPU {}", index)));
  return device;
}

Result<nvml::Device> NvmlApi::device_by_uuid(const std::string& uuid) const {
  if (functions_.device_by_uuid == nullptr)
    return base::fail(ErrorCode::unsupported, "{} has no nvmlDeviceGetHandleByUUID", path().string());
  nvml::Device device = nullptr;
  if (const auto status = functions_.device_by_uuid(uuid.c_str(), &device); status != nvml::kSuccess) {
    auto found = error(status, fmt::format("opening GPU {}", uuid));
    if (status == nvml::kInvalidArgument) found.code = ErrorCode::not_found;  // what an unknown name is to NVML
    return tl::unexpected<base::Error>(std::move(found));
  }
  return device;
}

Result<nvml::Device> NvmlApi::device_by_pci(const std::string& bus_id) const {
  if (functions_.device_by_pci == nullptr)
    return base::fail(ErrorCode::unsupported, "{} has no nvmlDeviceGetHandleByPciBusId_v2", path().string());
  nvml::Device device = nullptr;
  if (const auto status = functions_.device_by_pci(bus_id.c_str(), &device); status != nvml::kSuccess)
    return tl::unexpected<base::Error>(error(status, fmt::format("opening the GPU at {}", bus_id)));
  return device;
}

base::Error NvmlApi::error(nvml::Status status, std::string_view doing) const {
  const char* text = functions_.error_string != nullptr ? functions_.error_string(status) : nullptr;
  const auto code = status == nvml::kNotSupported || status == nvml::kFunctionNotFound ? ErrorCode::unsupported
                    : status == nvml::kNotFound                                        ? ErrorCode::not_found
                                                                                       : ErrorCode::unavailable;
  return {code, fmt::format("{}: {} (NVML {})", doing, text != nullptr ? text : "failed", status), {}, status};
}

}  // namespace ridgeline::gpu
