// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridgeline::monitor {

/// An NVIDIA GPU as the kernel's PCI tree shows it, found without touching the driver.
struct PciGpu {
  std::string address;  ///< "0000:1b:00.0"
  bool asleep = false;  ///< powered down; any call on it through NVML would wake it
};

/// In order of address, which is NVML's order too. `sysfs` is /sys except in tests; empty where it is not readable.
[[nodiscard]] std::vector<PciGpu> list_pci_gpus(const std::filesystem::path& sysfs);

/// False for a device that the PCI tree does not have.
[[nodiscard]] bool is_asleep(const std::filesystem::path& sysfs, const std::string& address);

/// NVML's "00000000:1B:00.0" as the kernel writes it, "0000:1b:00.0".
[[nodiscard]] std::string kernel_address(const std::string& nvml_bus_id);

}  // namespace ridgeline::monitor
