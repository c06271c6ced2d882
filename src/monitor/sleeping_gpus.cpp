// SPDX-License-Identifier: Apache-2.0
#include "monitor/sleeping_gpus.hpp"

#include <algorithm>
#include <cctype>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ridgeline::monitor {
namespace {

std::string word_in(const std::filesystem::path& path) {
  const auto text = base::read_file(path);
  return text ? std::string(base::trim(*text)) : std::string();
}

std::filesystem::path devices_in(const std::filesystem::path& sysfs) { return sysfs / "bus/pci/devices"; }

}  // namespace

std::vector<PciGpu> list_pci_gpus(const std::filesystem::path& sysfs) {
  constexpr const char* kNvidia = "0x10de";
  constexpr std::string_view kDisplay = "0x03";
  std::vector<PciGpu> gpus;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(devices_in(sysfs), failed), end; !failed && at != end;
       at.increment(failed)) {
    if (word_in(at->path() / "vendor") != kNvidia || word_in(at->path() / "class").rfind(kDisplay, 0) != 0) continue;
    const auto address = at->path().filename().string();
    gpus.push_back({address, is_asleep(sysfs, address)});
  }
  std::sort(gpus.begin(), gpus.end(), [](const PciGpu& a, const PciGpu& b) { return a.address < b.address; });
  return gpus;
}

bool is_asleep(const std::filesystem::path& sysfs, const std::string& address) {
  const auto status = word_in(devices_in(sysfs) / address / "power/runtime_status");
  return status == "suspended" || status == "suspending";
}

std::string kernel_address(const std::string& nvml_bus_id) {
  auto address = nvml_bus_id;
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto colon = address.find(':');
  return colon != std::string::npos && colon > 4 ? address.substr(colon - 4) : address;
}

}  // namespace ridgeline::monitor
