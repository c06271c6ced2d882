// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

constexpr double kGiB = 1073741824.0;
constexpr double kLowDisk = 5 * kGiB;
constexpr double kNoDisk = 0.25 * kGiB;
constexpr double kLowShm = 1 * kGiB;      // a few batches of images a worker of a data loader
constexpr std::int64_t kFewFiles = 1024;  // what Linux gives by default
constexpr double kLittleMemory = 2 * kGiB;

Check machine_check(std::string id, std::string title, CheckStatus status, std::string evidence, std::string fix = {},
                    std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::machine, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

Check cpu_check(const MachineFacts& machine) {
  const auto& cpu = machine.environment;
  const auto evidence = fmt::format(
      "{}; {:g} of {} CPUs usable{}", cpu.cpu_model.empty() ? "unknown model" : cpu.cpu_model, cpu.usable_cpus,
      cpu.logical_cpus, cpu.cgroup_cpu_quota ? fmt::format(" (cgroup quota {:g})", *cpu.cgroup_cpu_quota) : "");
  if (cpu.cgroup_cpu_quota && *cpu.cgroup_cpu_quota < 1)
    return machine_check("cpu", "CPU", warn, evidence,
                         "less than one CPU: latencies jump whenever the quota is used up; raise the limit",
                         {"docker run --cpus 4 ...   # Kubernetes: resources.limits.cpu"});
  const auto quota_threads = static_cast<double>(cpu.affinity.size());
  if (cpu.cgroup_cpu_quota && quota_threads > 0 && *cpu.cgroup_cpu_quota < 0.75 * quota_threads)
    return machine_check(
        "cpu", "CPU", warn, evidence,
        "thread pools sized by the CPU count are throttled: set thread counts to the quota, or bind with --cpuset-cpus",
        {fmt::format("docker run --cpuset-cpus 0-{} ...", std::max(0, static_cast<int>(*cpu.cgroup_cpu_quota) - 1))});
  return machine_check("cpu", "CPU", ok, evidence);
}

Check governor_check(const MachineFacts& machine) {
  const auto& governor = machine.environment.governor;
  if (!governor)
    return machine_check("governor", "CPU governor", skipped, "not shown here (virtual machine or container)");
  if (*governor == "powersave" || *governor == "conservative")
    return machine_check("governor", "CPU governor", warn,
                         *governor + ": clocks rise late, so short inferences run slow", "choose performance",
                         {"sudo cpupower frequency-set -g performance"});
  return machine_check("governor", "CPU governor", ok, *governor);
}

Check memory_check(const MachineFacts& machine) {
  const auto available = static_cast<double>(machine.environment.memory_available_bytes);
  const auto total = static_cast<double>(machine.environment.memory_bytes);
  if (total <= 0) return machine_check("memory", "Memory", skipped, "cannot be read");
  const auto evidence = fmt::format("{} of {} available", base::format_bytes(available), base::format_bytes(total));
  if (available < kLittleMemory && available < 0.25 * total)
    return machine_check("memory", "Memory", warn, evidence, "end what is not needed, or raise the container's limit",
                         {"ps aux --sort=-rss | head"});
  return machine_check("memory", "Memory", ok, evidence);
}

Check shm_check(const MachineFacts& machine) {
  if (!machine.shm_bytes) return machine_check("shm", "Shared memory", skipped, "/dev/shm is not there");
  const auto size = static_cast<double>(*machine.shm_bytes);
  const auto evidence = fmt::format("/dev/shm has {}", base::format_bytes(size));
  if (size < kLowShm)
    return machine_check("shm", "Shared memory", warn,
                         evidence + ": data loaders with several workers die of bus errors", "give it more",
                         {machine.container ? "docker run --shm-size=8g ...   # or --ipc=host"
                                            : "sudo mount -o remount,size=8G /dev/shm"});
  return machine_check("shm", "Shared memory", ok, evidence);
}

std::string limit_text(std::int64_t limit) { return limit < 0 ? "unlimited" : fmt::format("{}", limit); }

Check files_check(const MachineFacts& machine) {
  if (!machine.open_files_soft || !machine.open_files_hard)
    return machine_check("open_files", "Open files", skipped, "cannot be read");
  const auto soft = *machine.open_files_soft;
  const auto evidence =
      fmt::format("at most {} a process (hard limit {})", limit_text(soft), limit_text(*machine.open_files_hard));
  if (soft >= 0 && soft < kFewFiles)
    return machine_check("open_files", "Open files", warn, evidence + ": loaders with many workers or files run out",
                         "raise the limit for the service", {"ulimit -n 65536", "systemd unit: LimitNOFILE=65536"});
  return machine_check("open_files", "Open files", ok, evidence);
}

/// "" : not known.
std::string speed_class(const DiskFacts& disk) {
  for (const auto* network : {"nfs", "cifs", "smb", "lustre", "fuse", "9p", "ceph", "gpfs"})
    if (disk.file_system.rfind(network, 0) == 0) return "network or user-space file system";
  if (disk.file_system == "tmpfs" || disk.file_system == "ramfs") return "memory";
  if (disk.device.rfind("nvme", 0) == 0) return "NVMe";
  if (!disk.rotational || disk.device.empty()) return {};
  // Virtual disks call themselves rotational or not as the host pleases.
  if (disk.device.rfind("vd", 0) == 0 || disk.device.rfind("xvd", 0) == 0) return "virtual disk";
  return *disk.rotational ? "rotating disk" : "SSD";
}

Check disk_check(const MachineFacts& machine) {
  if (machine.disks.empty()) return machine_check("disk", "Disk space", skipped, "cannot be read");
  const auto least = std::min_element(machine.disks.begin(), machine.disks.end(),
                                      [](const auto& a, const auto& b) { return a.free_bytes < b.free_bytes; });
  for (const auto& disk : machine.disks)
    if (!disk.writable)
      return machine_check(
          "disk", "Disk space", fail, fmt::format("{} ({}) cannot be written to", disk.path, disk.purpose),
          "give this user write permission, or name another place with --db, XDG_STATE_HOME or TMPDIR");
  const auto evidence =
      fmt::format("least free: {} in {} ({})", base::format_bytes(static_cast<double>(least->free_bytes)), least->path,
                  least->purpose);
  const auto free = static_cast<double>(least->free_bytes);
  const std::vector<std::string> look{fmt::format("du -xh --max-depth=1 {} | sort -h | tail", least->path)};
  if (free < kNoDisk)
    return machine_check("disk", "Disk space", fail, evidence, "free some space: results and caches cannot be written",
                         look);
  if (free < kLowDisk)
    return machine_check("disk", "Disk space", warn, evidence,
                         "free some space: engine caches and traces take gigabytes", look);
  return machine_check("disk", "Disk space", ok, evidence);
}

Check storage_check(const MachineFacts& machine) {
  const auto here = std::find_if(machine.disks.begin(), machine.disks.end(),
                                 [](const auto& disk) { return disk.purpose == "current folder"; });
  if (here == machine.disks.end()) return machine_check("storage", "Storage speed", skipped, "cannot be read");
  const auto speed = speed_class(*here);
  const auto place = fmt::format("{}{}", here->file_system, here->device.empty() ? "" : " on " + here->device);
  if (speed.empty())
    return machine_check("storage", "Storage speed", skipped, fmt::format("{}: the device behind it is hidden", place));
  const auto evidence = fmt::format("{} ({})", speed, place);
  if (speed == "rotating disk" || speed.rfind("network", 0) == 0)
    return machine_check("storage", "Storage speed", warn, evidence + " behind the current folder",
                         "training data read at random belongs on a local NVMe or SSD: copy it there first");
  return machine_check("storage", "Storage speed", ok, evidence);
}

}  // namespace

std::vector<Check> check_machine(const Facts& facts) {
  const auto& machine = facts.machine;
  return {cpu_check(machine),   governor_check(machine), memory_check(machine), shm_check(machine),
          files_check(machine), disk_check(machine),     storage_check(machine)};
}

}  // namespace ridgeline::doctor
