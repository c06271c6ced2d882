// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"
#include "gpu/nvml_functions.hpp"

namespace ridgeline::doctor {
namespace {

constexpr std::string_view kGpuContainer =
    "start the container with the GPU: docker run --gpus all, apptainer --nv, or the pod's nvidia.com/gpu limit";
constexpr std::string_view kInstallDriver = "install the NVIDIA driver of the distribution and reboot";

Check driver_check(std::string id, std::string title, CheckStatus status, std::string evidence, std::string fix = {},
                   std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::driver, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The management library was opened but does not start, or is broken itself.
Check broken_driver(const DriverFacts& driver) {
  const auto& error = driver.nvml_error;
  const auto fail = [&](std::string fix, std::vector<std::string> commands = {}) {
    return driver_check("nvml", "NVIDIA driver", CheckStatus::fail, error, std::move(fix), std::move(commands));
  };
  if (driver.nvml_broken_file) {
    const auto problem = explain_load_error(error);
    return driver_check(
        "nvml", "NVIDIA driver", CheckStatus::fail, fmt::format("libnvidia-ml.so.1: {} {}", problem.thing, problem.why),
        fmt::format("{}; libnvidia-ml.so.1 belongs to the driver, so install the driver's packages again",
                    problem.fix));
  }
  if (contains(error, "mismatch"))
    return fail(
        "the driver was updated while its old kernel module stayed loaded: reboot, or unload the module when no "
        "process uses the GPU",
        {"sudo reboot"});
  if (contains(error, "Driver Not Loaded") || driver.nvml_status == gpu::nvml::kDriverNotLoaded)
    return fail(driver.container
                    ? std::string(kGpuContainer)
                    : "load the kernel module; when it does not load, its build for this kernel is missing "
                      "(dkms status) or Secure Boot refuses it (dmesg)",
                driver.container ? std::vector<std::string>{}
                                 : std::vector<std::string>{"sudo modprobe nvidia", "dkms status"});
  if (contains(error, "Insufficient Permissions") || driver.nvml_status == gpu::nvml::kNoPermission)
    return fail("this user may not open /dev/nvidia*: add it to the group that owns them",
                {"ls -l /dev/nvidia*", "sudo usermod -aG video $USER"});
  if (driver.container)
    return fail("the container lost its GPU (a reload of systemd takes device rights away): start it again", {});
  return fail("look for Xid lines of the kernel; a GPU that fell off the bus needs a reboot",
              {"sudo dmesg | grep -i -E 'nvrm|xid'"});
}

Check absent_driver(const DriverFacts& driver) {
  const auto tried = "libnvidia-ml.so.1 is not on the loader's path";
  if (!driver.kernel_module.empty() || !driver.device_nodes.empty())
    return driver_check(
        "nvml", "NVIDIA driver", CheckStatus::fail,
        fmt::format("the kernel has an NVIDIA driver ({}), but {}",
                    driver.kernel_module.empty() ? driver.device_nodes.front() : driver.kernel_module, tried),
        driver.container ? "let the container have the driver's libraries: NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                         : "install the user-space part of the same driver version",
        driver.container
            ? std::vector<std::string>{"docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility ..."}
            : std::vector<std::string>{"sudo apt-get install libnvidia-ml1 libcuda1"});
  if (!driver.pci_gpus.empty())
    return driver_check("nvml", "NVIDIA driver", CheckStatus::warn,
                        fmt::format("{} NVIDIA GPU(s) on the PCI bus ({}), but no driver: {}", driver.pci_gpus.size(),
                                    fmt::join(driver.pci_gpus, ", "), tried),
                        std::string(driver.container ? kGpuContainer : kInstallDriver),
                        driver.container ? std::vector<std::string>{"docker run --gpus all ..."}
                                         : std::vector<std::string>{"sudo apt-get install nvidia-driver"});
  return driver_check("nvml", "NVIDIA driver", CheckStatus::skipped,
                      fmt::format("no NVIDIA GPU: none on the PCI bus, no kernel driver, {}", tried));
}

Check driver_check(const DriverFacts& driver) {
  if (!driver.nvml_error.empty())
    return driver.nvml_path.empty() && !driver.nvml_broken_file ? absent_driver(driver) : broken_driver(driver);
  auto evidence = fmt::format(
      "{}, serves CUDA {}; {} GPU(s); {}", driver.driver_version.empty() ? "version unknown" : driver.driver_version,
      driver.cuda_version.empty() ? "(unknown)" : driver.cuda_version, driver.gpus.value_or(0), driver.nvml_path);
  if (!driver.kernel_module.empty() && !driver.driver_version.empty() && driver.kernel_module != driver.driver_version)
    return driver_check("nvml", "NVIDIA driver", CheckStatus::fail,
                        fmt::format("the library is of driver {}, the kernel module of {}", driver.driver_version,
                                    driver.kernel_module),
                        "reboot, so that both are of one version", {"sudo reboot"});
  if (!driver.closed_nodes.empty())
    return driver_check("nvml", "NVIDIA driver", CheckStatus::fail,
                        fmt::format("{}; this user may not open {}", evidence, fmt::join(driver.closed_nodes, ", ")),
                        "add the user to the group that owns the device files",
                        {"ls -l /dev/nvidia*", "sudo usermod -aG video $USER"});
  if (!driver.inventory_note.empty())
    return driver_check(
        "nvml", "NVIDIA driver", CheckStatus::fail, driver.inventory_note,
        "a lost GPU comes back with a reboot; look for its Xid in the kernel's log, and have the card checked when it "
        "happens again",
        {"sudo dmesg | grep -i xid", "sudo reboot"});
  if (!driver.has_gpu())
    return driver_check(
        "nvml", "NVIDIA driver", driver.pci_gpus.empty() ? CheckStatus::warn : CheckStatus::fail, evidence,
        driver.container ? std::string(kGpuContainer)
                         : "the driver runs but has no GPU: look for NVRM lines of the kernel",
        driver.container ? std::vector<std::string>{} : std::vector<std::string>{"sudo dmesg | grep -i nvrm"});
  return driver_check("nvml", "NVIDIA driver", CheckStatus::ok, std::move(evidence));
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
  if (!driver.has_gpu()) return driver_check("cuda", "CUDA", CheckStatus::skipped, "no GPU");
  const auto& needed = facts.runtime.cuda_major;
  if (!needed)
    return driver_check(
        "cuda", "CUDA", CheckStatus::skipped,
        fmt::format("driver serves CUDA {}; no CUDA provider of ONNX Runtime to compare it with", driver.cuda_version));
  if (driver.cuda_version.empty())
    return driver_check(
        "cuda", "CUDA", CheckStatus::warn, "the driver does not say which CUDA it serves",
        fmt::format("update the driver to {} or later, which CUDA {} needs", oldest_driver(*needed), *needed));
  if (major_of(driver.cuda_version) < *needed)
    return driver_check(
        "cuda", "CUDA", CheckStatus::fail,
        fmt::format("ONNX Runtime's provider is built for CUDA {}, driver {} serves CUDA {} at most", *needed,
                    driver.driver_version, driver.cuda_version),
        fmt::format("update the driver to {} or later, or take an ONNX Runtime built for CUDA {}",
                    oldest_driver(*needed), major_of(driver.cuda_version)),
        {fmt::format("pip install onnxruntime-gpu   # a release for CUDA {}", major_of(driver.cuda_version))});
  return driver_check(
      "cuda", "CUDA", CheckStatus::ok,
      fmt::format("driver serves CUDA {}, ONNX Runtime's provider needs CUDA {}", driver.cuda_version, *needed));
}

Check readings_check(const DriverFacts& driver) {
  if (!driver.has_gpu()) return driver_check("readings", "Readings", CheckStatus::skipped, "no GPU");
  if (driver.missing_functions.empty())
    return driver_check("readings", "Readings", CheckStatus::ok,
                        "the management library has every function that Ridgeline reads");
  return driver_check("readings", "Readings", CheckStatus::warn,
                      fmt::format("{} function(s) absent: {}", driver.missing_functions.size(),
                                  fmt::join(driver.missing_functions, ", ")),
                      fmt::format("driver {} is old or cut down: update it; until then these readings are left out",
                                  driver.driver_version.empty() ? "(unknown version)" : driver.driver_version));
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
  if (!driver.has_gpu()) return driver_check("visible", "Visible GPUs", CheckStatus::skipped, "no GPU");
  if (!driver.visible_devices)
    return driver_check("visible", "Visible GPUs", CheckStatus::ok,
                        fmt::format("all {}; CUDA_VISIBLE_DEVICES is not set", *driver.gpus));
  auto evidence = fmt::format("CUDA_VISIBLE_DEVICES=\"{}\" leaves {} of {}", *driver.visible_devices,
                              driver.visible_gpus, *driver.gpus);
  if (!driver.absent_devices.empty())
    evidence += fmt::format(": there is no {}", fmt::join(driver.absent_devices, ", "));
  if (contains(*driver.visible_devices, "MIG-"))
    return driver_check("visible", "Visible GPUs", CheckStatus::ok,
                        fmt::format("CUDA_VISIBLE_DEVICES=\"{}\"", *driver.visible_devices));
  if (driver.visible_gpus == 0)
    return driver_check("visible", "Visible GPUs", CheckStatus::fail, evidence,
                        "unset it, or name what nvidia-smi -L lists", {"unset CUDA_VISIBLE_DEVICES"});
  if (!driver.absent_devices.empty())
    return driver_check(
        "visible", "Visible GPUs", CheckStatus::warn, evidence,
        "name what nvidia-smi -L lists: CUDA ignores an entry that is not there and all after it",
        {"nvidia-smi -L", fmt::format("export CUDA_VISIBLE_DEVICES={}", fmt::join(present_devices(driver), ","))});
  return driver_check("visible", "Visible GPUs", CheckStatus::ok, evidence);
}

Check counters_check(const DriverFacts& driver) {
  if (!driver.has_gpu()) return driver_check("counters", "GPU counters", CheckStatus::skipped, "no GPU");
  if (driver.privileged)
    return driver_check("counters", "GPU counters", CheckStatus::ok,
                        "this user may read performance counters (root or CAP_PERFMON)");
  if (!driver.counters_admin_only)
    return driver_check(
        "counters", "GPU counters", CheckStatus::skipped,
        "the kernel driver does not say who may read performance counters (/proc/driver/nvidia/params)");
  if (!*driver.counters_admin_only)
    return driver_check("counters", "GPU counters", CheckStatus::ok, "open to every user (RmProfilingAdminOnly: 0)");
  return driver_check(
      "counters", "GPU counters", CheckStatus::warn,
      "performance counters are for administrators (RmProfilingAdminOnly: 1): measured bytes and tensor use are not to "
      "be had",
      "let every user read them (administrator, takes effect when the module is loaded again), or run with CAP_PERFMON",
      {"echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-counters.conf",
       "sudo update-initramfs -u && sudo reboot"});
}

}  // namespace

std::vector<Check> check_driver(const Facts& facts) {
  return {driver_check(facts.driver), cuda_check(facts), readings_check(facts.driver), visible_check(facts.driver),
          counters_check(facts.driver)};
}

}  // namespace ridgeline::doctor
