// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"
#include "doctor/messages.hpp"
#include "gpu/nvml_functions.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

Check driver_check(std::string id, schema::Message title, CheckStatus status, schema::Message evidence,
                   schema::Message fix = {}, std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::driver, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

/// On the driver itself.
Check nvml_check(CheckStatus status, schema::Message evidence, schema::Message fix = {},
                 std::vector<std::string> commands = {}) {
  return driver_check("nvml", messages::title_driver(), status, std::move(evidence), std::move(fix),
                      std::move(commands));
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The management library was opened but does not start, or is broken itself.
Check broken_driver(const DriverFacts& driver) {
  const auto& error = driver.nvml_error;
  const auto fail = [&](schema::Message fix, std::vector<std::string> commands = {}) {
    return nvml_check(CheckStatus::fail, schema::messages::foreign(error), std::move(fix), std::move(commands));
  };
  if (driver.nvml_broken_file) {
    const auto problem = explain_load_error(error);
    return nvml_check(CheckStatus::fail, messages::broken_driver_library(problem.what),
                      messages::fix_driver_library(problem.fix));
  }
  if (contains(error, "mismatch")) return fail(messages::fix_driver_updated(), {"sudo reboot"});
  if (contains(error, "Driver Not Loaded") || driver.nvml_status == gpu::nvml::kDriverNotLoaded) {
    if (driver.container) return fail(messages::fix_start_container());
    return fail(messages::fix_load_module(), {"sudo modprobe nvidia", "dkms status"});
  }
  if (contains(error, "Insufficient Permissions") || driver.nvml_status == gpu::nvml::kNoPermission)
    return fail(messages::fix_closed_devices(), {"ls -l /dev/nvidia*", "sudo usermod -aG video $USER"});
  if (driver.container) return fail(messages::fix_container_lost_gpu());
  return fail(messages::fix_xid(), {"sudo dmesg | grep -i -E 'nvrm|xid'"});
}

Check absent_driver(const DriverFacts& driver) {
  if (!driver.kernel_module.empty() || !driver.device_nodes.empty())
    return nvml_check(
        CheckStatus::fail,
        messages::driver_without_library(driver.kernel_module.empty() ? driver.device_nodes.front()
                                                                      : driver.kernel_module),
        driver.container ? messages::fix_driver_capabilities() : messages::fix_user_space(),
        driver.container
            ? std::vector<std::string>{"docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ..."}
            : std::vector<std::string>{"sudo apt-get install libnvidia-ml1 libcuda1"});
  if (!driver.pci_gpus.empty())
    return nvml_check(CheckStatus::warn,
                      messages::gpus_without_driver({.count = std::ssize(driver.pci_gpus), .gpus = driver.pci_gpus}),
                      driver.container ? messages::fix_start_container() : messages::fix_install_driver(),
                      driver.container ? std::vector<std::string>{"docker run --gpus all ..."}
                                       : std::vector<std::string>{"sudo apt-get install nvidia-driver"});
  return nvml_check(CheckStatus::skipped, messages::no_nvidia_gpu());
}

Check driver_check(const DriverFacts& driver) {
  if (!driver.nvml_error.empty())
    return driver.nvml_path.empty() && !driver.nvml_broken_file ? absent_driver(driver) : broken_driver(driver);
  messages::Driver seen{.version = driver.driver_version,
                        .cuda = driver.cuda_version,
                        .gpus = driver.gpus.value_or(0),
                        .library = driver.nvml_path};
  if (!driver.kernel_module.empty() && !driver.driver_version.empty() && driver.kernel_module != driver.driver_version)
    return nvml_check(
        CheckStatus::fail,
        messages::driver_versions_differ({.library = driver.driver_version, .module = driver.kernel_module}),
        messages::fix_driver_versions(), {"sudo reboot"});
  if (!driver.closed_nodes.empty()) {
    seen.closed = driver.closed_nodes;
    return nvml_check(CheckStatus::fail, messages::driver(seen), messages::fix_device_group(),
                      {"ls -l /dev/nvidia*", "sudo usermod -aG video $USER"});
  }
  if (!driver.inventory_note.empty())
    return nvml_check(CheckStatus::fail, driver.inventory_note, messages::fix_lost_gpu(),
                      {"sudo dmesg | grep -i xid", "sudo reboot"});
  if (!driver.has_gpu())
    return nvml_check(
        driver.pci_gpus.empty() ? CheckStatus::warn : CheckStatus::fail, messages::driver(seen),
        driver.container ? messages::fix_start_container() : messages::fix_driver_without_gpu(),
        driver.container ? std::vector<std::string>{} : std::vector<std::string>{"sudo dmesg | grep -i nvrm"});
  return nvml_check(CheckStatus::ok, messages::driver(seen));
}

int major_of(const std::string& version) { return std::atoi(version.c_str()); }

/// Oldest driver for a CUDA release (NVIDIA's CUDA compatibility guide, minor version compatibility).
std::string oldest_driver(int cuda_major) {
  switch (cuda_major) {
    case 11: return "450";
    case 12: return "525";
    case 13: return "580";
    default: return "";
  }
}

Check cuda_check(const Facts& facts) {
  const auto& driver = facts.driver;
  const auto says = [](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                       std::vector<std::string> commands = {}) {
    return driver_check("cuda", messages::product("CUDA"), status, std::move(evidence), std::move(fix),
                        std::move(commands));
  };
  if (!driver.has_gpu()) return says(CheckStatus::skipped, messages::no_gpu());
  const auto& needed = facts.runtime.cuda_major;
  if (!needed) return says(CheckStatus::skipped, messages::cuda_of_driver(driver.cuda_version));
  if (driver.cuda_version.empty())
    return says(CheckStatus::warn, messages::cuda_unknown(),
                messages::fix_update_driver_for({.oldest = oldest_driver(*needed), .cuda = *needed}));
  const auto served = major_of(driver.cuda_version);
  if (served < *needed)
    return says(
        CheckStatus::fail,
        messages::cuda_too_new({.needed = *needed, .driver = driver.driver_version, .served = driver.cuda_version}),
        messages::fix_cuda_too_new({.oldest = oldest_driver(*needed), .served = served}),
        {fmt::format("pip install onnxruntime-gpu   # a release for CUDA {}", served)});
  return says(CheckStatus::ok, messages::cuda({.served = driver.cuda_version, .needed = *needed}));
}

Check readings_check(const DriverFacts& driver) {
  const auto title = messages::title_readings();
  if (!driver.has_gpu()) return driver_check("readings", title, CheckStatus::skipped, messages::no_gpu());
  const auto& missing = driver.missing_functions;
  if (missing.empty()) return driver_check("readings", title, CheckStatus::ok, messages::readings());
  return driver_check("readings", title, CheckStatus::warn,
                      messages::readings_absent({.count = std::ssize(missing), .functions = missing}),
                      messages::fix_readings(driver.driver_version));
}

/// The entries of CUDA_VISIBLE_DEVICES that name a GPU.
std::vector<std::string> present_devices(const DriverFacts& driver) {
  std::vector<std::string> present;
  const auto& absent = driver.absent_devices;
  for (const auto& part : base::split(*driver.visible_devices, ',')) {
    const std::string entry(base::trim(part));
    if (!entry.empty() && std::find(absent.begin(), absent.end(), entry) == absent.end()) present.push_back(entry);
  }
  return present;
}

Check visible_check(const DriverFacts& driver) {
  const auto says = [](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                       std::vector<std::string> commands = {}) {
    return driver_check("visible", messages::title_visible(), status, std::move(evidence), std::move(fix),
                        std::move(commands));
  };
  if (!driver.has_gpu()) return says(CheckStatus::skipped, messages::no_gpu());
  if (!driver.visible_devices) return says(CheckStatus::ok, messages::visible_all(*driver.gpus));
  if (contains(*driver.visible_devices, "MIG-"))
    return says(CheckStatus::ok, messages::visible_mig(*driver.visible_devices));
  const auto evidence = messages::visible({.value = *driver.visible_devices,
                                           .left = static_cast<std::int64_t>(driver.visible_gpus),
                                           .gpus = *driver.gpus,
                                           .absent = driver.absent_devices});
  if (driver.visible_gpus == 0)
    return says(CheckStatus::fail, evidence, messages::fix_visible(), {"unset CUDA_VISIBLE_DEVICES"});
  if (!driver.absent_devices.empty())
    return says(
        CheckStatus::warn, evidence, messages::fix_visible_absent(),
        {"nvidia-smi -L", fmt::format("export CUDA_VISIBLE_DEVICES={}", fmt::join(present_devices(driver), ","))});
  return says(CheckStatus::ok, evidence);
}

Check counters_check(const DriverFacts& driver) {
  const auto says = [](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                       std::vector<std::string> commands = {}) {
    return driver_check("counters", messages::title_counters(), status, std::move(evidence), std::move(fix),
                        std::move(commands));
  };
  if (!driver.has_gpu()) return says(CheckStatus::skipped, messages::no_gpu());
  if (driver.privileged) return says(CheckStatus::ok, messages::counters_privileged());
  if (!driver.counters_admin_only) return says(CheckStatus::skipped, messages::counters_unknown());
  if (!*driver.counters_admin_only) return says(CheckStatus::ok, messages::counters_open());
  return says(
      CheckStatus::warn, messages::counters_closed(), messages::fix_counters(),
      {"echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-counters.conf",
       "sudo update-initramfs -u && sudo reboot"});
}

}  // namespace

std::vector<Check> check_driver(const Facts& facts) {
  return {driver_check(facts.driver), cuda_check(facts), readings_check(facts.driver), visible_check(facts.driver),
          counters_check(facts.driver)};
}

}  // namespace ridgeline::doctor
