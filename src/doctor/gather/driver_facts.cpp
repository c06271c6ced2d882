// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/driver_facts.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "doctor/load_error.hpp"
#include "gpu/gpu_inventory.hpp"
#include "gpu/nvml_health.hpp"
#include "host/container.hpp"
#include "host/nvidia_driver.hpp"
#include "host/this_process.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Display and 3D controllers (class 0x03) of NVIDIA (vendor 0x10de).
std::vector<std::string> pci_gpus(const host::SystemFiles& files) {
  std::vector<std::string> found;
  const fs::path devices = "sys/bus/pci/devices";
  for (const auto& name : names_in(files.root() / devices))
    if (files.text(devices / name / "vendor") == "0x10de" &&
        files.text(devices / name / "class").value_or("").rfind("0x03", 0) == 0)
      found.push_back(name);
  return found;
}

void read_nodes(const fs::path& root, DriverFacts& facts) {
  for (const auto& name : names_in(root / "dev")) {
    const bool gpu =
        name.rfind("nvidia", 0) == 0 && name.size() > 6 && name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (!gpu && name != "nvidiactl") continue;
    const auto path = root / "dev" / name;
    facts.device_nodes.push_back(path.string());
    if (::access(path.c_str(), R_OK | W_OK) != 0) facts.closed_nodes.push_back(path.string());
  }
}

bool is_privileged(const host::SystemFiles& files) {
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21U;
  constexpr std::uint64_t kPerfmon = std::uint64_t{1} << 38U;
  return (host::capabilities(files) & (kSysAdmin | kPerfmon)) != 0;
}

void read_nvml(const std::vector<std::string>& candidates, DriverFacts& facts) {
  std::optional<base::DynamicLibrary> library;
  std::vector<std::string> reasons;
  for (const auto& candidate : candidates) {
    auto opened = base::DynamicLibrary::open_file(candidate);
    if (opened) {
      library = std::move(*opened);
      break;
    }
    reasons.push_back(std::move(opened).error().message);
  }
  if (!library) {
    const auto broken = std::find_if(reasons.begin(), reasons.end(), [&](const std::string& reason) {
      return std::none_of(candidates.begin(), candidates.end(),
                          [&](const std::string& name) { return is_just_absent(reason, name); });
    });
    facts.nvml_broken_file = broken != reasons.end();
    facts.nvml_error = facts.nvml_broken_file ? *broken : fmt::format("{}", fmt::join(reasons, "; "));
    return;
  }
  facts.nvml_path = library->path().string();
  const auto api = gpu::NvmlApi::load(candidates);
  if (!api) {
    facts.nvml_error = api.error().message;
    facts.nvml_status = api.error().number;
    return;
  }
  facts.driver_version = (*api)->driver_version();
  facts.cuda_version = (*api)->cuda_version();
  facts.missing_functions = gpu::missing_functions(**api);
  const auto count = (*api)->device_count();
  if (count) {
    facts.gpus = *count;
    return;
  }
  facts.nvml_error = count.error().message;
  facts.nvml_status = count.error().number;
}

/// Entries of CUDA_VISIBLE_DEVICES that name no GPU, each once.
std::vector<std::string> absent_devices(const std::string& visible_devices, const gpu::GpuInventory& inventory) {
  std::vector<std::string> absent;
  for (const auto& part : base::split(visible_devices, ',')) {
    const std::string entry(base::trim(part));
    auto named = inventory;
    named.keep_visible(entry);
    if (!entry.empty() && named.gpus.empty() && std::find(absent.begin(), absent.end(), entry) == absent.end())
      absent.push_back(entry);
  }
  return absent;
}

}  // namespace

DriverFacts read_driver_facts(const std::optional<std::string>& visible_devices, const fs::path& root,
                              const std::vector<std::string>& nvml) {
  DriverFacts facts;
  const host::SystemFiles files(root);
  facts.pci_gpus = pci_gpus(files);
  facts.kernel_module = host::nvidia_module_version(files);
  read_nodes(root, facts);
  facts.container = host::in_container(files);
  facts.privileged = is_privileged(files);
  facts.counters_admin_only = host::nvidia_counters_admin_only(files);
  read_nvml(nvml, facts);
  facts.visible_devices = visible_devices;
  auto inventory = gpu::GpuInventory::read(nvml);
  if (facts.has_gpu()) facts.inventory_note = inventory.note;
  if (visible_devices) {
    facts.absent_devices = absent_devices(*visible_devices, inventory);
    inventory.keep_visible(*visible_devices);
  }
  facts.visible_gpus = inventory.gpus.size();
  return facts;
}

}  // namespace ridgeline::doctor
