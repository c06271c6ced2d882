// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ridgeline::fakes {

/// A /sys with PCI devices.
class FakeSysfs {
 public:
  FakeSysfs() : path_(std::filesystem::temp_directory_path() / ("rl_sys_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;
  ~FakeSysfs() { std::filesystem::remove_all(path_); }

  void add(const std::string& address, const std::string& vendor, const std::string& kind, const std::string& status) {
    const auto device = path_ / "bus/pci/devices" / address;
    std::filesystem::create_directories(device / "power");
    std::ofstream(device / "vendor") << vendor << "\n";
    std::ofstream(device / "class") << kind << "\n";
    set_status(address, status);
  }
  void set_status(const std::string& address, const std::string& status) {
    std::ofstream(path_ / "bus/pci/devices" / address / "power/runtime_status") << status << "\n";
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ridgeline::fakes
