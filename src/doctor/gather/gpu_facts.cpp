// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/gpu_facts.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "gpu/gpu_inventory.hpp"
#include "gpu/nvml_device.hpp"
#include "host/processes.hpp"
#include "host/system_files.hpp"

namespace ridgeline::doctor {
namespace {

/// NVML writes "00000000:0F:00.0", the kernel "0000:0f:00.0".
std::string kernel_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto colon = address.find(':');
  return colon > 4 && colon != std::string::npos ? address.substr(colon - 4) : address;
}

std::vector<GpuProcess> named(const std::vector<schema::GpuNeighbour>& processes, const std::filesystem::path& root) {
  std::vector<GpuProcess> found;
  const host::Processes visible(root);
  for (const auto& process : processes)
    found.push_back({process.pid, visible.name(static_cast<pid_t>(process.pid)), process.memory_bytes});
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
  });
  return found;
}

unsigned driver_index(const GpuFacts& gpu) { return static_cast<unsigned>(gpu.gpu.index.value_or(0)); }

bool says_without_ecc(const gpu::nvml::Functions& functions, gpu::nvml::Device device) {
  int now = 0;
  int pending = 0;
  return functions.ecc_mode != nullptr && functions.ecc_mode(device, &now, &pending) == gpu::nvml::kNotSupported;
}

/// A card of a family that knows NVLink refuses the first link's number.
bool says_without_nvlink(const gpu::nvml::Functions& functions, gpu::nvml::Device device) {
  int active = 0;
  if (functions.nvlink_state == nullptr) return false;
  const auto status = functions.nvlink_state(device, 0, &active);
  return status == gpu::nvml::kNotSupported || status == gpu::nvml::kInvalidArgument;
}

}  // namespace

std::vector<GpuFacts> read_gpu_facts(const std::filesystem::path& root, const std::vector<std::string>& nvml) {
  std::vector<GpuFacts> found;
  const auto api = gpu::NvmlApi::load(nvml);
  if (!api) return found;
  for (auto& description : gpu::GpuInventory::read(nvml).gpus) {
    GpuFacts facts;
    facts.gpu = std::move(description);
    const auto handle = (*api)->device_by_index(driver_index(facts));
    if (!handle) continue;  // lost between the two calls; the driver's check says so
    const gpu::NvmlDevice device(*api, *handle);
    const gpu::NvmlHealth health(*api, *handle);
    facts.temperature_c = device.temperature_c();
    facts.power_w = device.power_w();
    facts.clock_reasons = device.clock_reasons();
    facts.ecc = health.ecc();
    facts.without_ecc = says_without_ecc((*api)->functions(), *handle);
    facts.remapped_rows = health.remapped_rows();
    if (facts.gpu.mig.value_or(false)) facts.mig_instances = health.mig_instances();
    facts.compute_mode = health.compute_mode();
    const gpu::NvmlLive live(*api, *handle);
    facts.pcie = live.pcie_link();
    facts.nvlinks = live.nvlink_links();
    facts.without_nvlink = says_without_nvlink((*api)->functions(), *handle);
    if (const auto processes = device.compute_processes()) facts.processes = named(*processes, root);
    if (const auto alive = live.alive(); !alive) facts.error = alive.error().message;
    const host::SystemFiles files(root);
    const auto pci = std::filesystem::path("sys/bus/pci/devices") / kernel_address(facts.gpu.pci_bus_id);
    if (const auto node = files.integer(pci / "numa_node")) facts.numa_node = static_cast<int>(*node);
    facts.near_cpus = files.cpu_list(pci / "local_cpulist").value_or(std::vector<int>{});
    found.push_back(std::move(facts));
  }
  return found;
}

std::function<void(std::vector<GpuFacts>&)> loss_check(const std::vector<GpuFacts>& gpus,
                                                       const std::vector<std::string>& nvml) {
  std::map<int, base::Result<gpu::NvmlLive>> handles;
  if (const auto api = gpu::NvmlApi::load(nvml))
    for (const auto& gpu : gpus)
      if (gpu.gpu.index)
        handles.emplace(*gpu.gpu.index, (*api)->device_by_index(driver_index(gpu)).map([&](gpu::nvml::Device device) {
          return gpu::NvmlLive(*api, device);
        }));
  return [handles = std::move(handles)](std::vector<GpuFacts>& asked) {
    for (auto& gpu : asked) {
      const auto handle = handles.find(gpu.gpu.index.value_or(-1));
      if (!gpu.error.empty() || handle == handles.end()) continue;
      const auto alive = handle->second.and_then([](const gpu::NvmlLive& live) { return live.alive(); });
      if (alive) continue;
      gpu.error = alive.error().message;
      gpu.answered_before = true;
    }
  };
}

}  // namespace ridgeline::doctor
