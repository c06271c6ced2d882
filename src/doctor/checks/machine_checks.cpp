// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks/checks.hpp"
#include "doctor/messages.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

constexpr double kGiB = 1073741824.0;
constexpr double kLowDisk = 5 * kGiB;
constexpr double kNoDisk = 0.25 * kGiB;
constexpr double kLowShm = 1 * kGiB;      // a few batches of images a worker of a data loader
constexpr std::int64_t kFewFiles = 1024;  // what Linux gives by default
constexpr double kLittleMemory = 2 * kGiB;

Check machine_check(std::string id, schema::Message title, CheckStatus status, schema::Message evidence,
                    schema::Message fix = {}, std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::machine, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

Check cpu_check(const MachineFacts& machine) {
  const auto& cpu = machine.environment;
  const auto title = messages::product("CPU");
  const auto evidence = messages::cpu(
      {.model = cpu.cpu_model, .usable = cpu.usable_cpus, .all = cpu.logical_cpus, .quota = cpu.cgroup_cpu_quota});
  if (cpu.cgroup_cpu_quota && *cpu.cgroup_cpu_quota < 1)
    return machine_check("cpu", title, warn, evidence, messages::fix_cpu_quota(),
                         {"docker run --cpus 4 ...   # Kubernetes: resources.limits.cpu"});
  const auto quota_threads = static_cast<double>(cpu.affinity.size());
  if (cpu.cgroup_cpu_quota && quota_threads > 0 && *cpu.cgroup_cpu_quota < 0.75 * quota_threads)
    return machine_check(
        "cpu", title, warn, evidence, messages::fix_cpu_threads(),
        {fmt::format("docker run --cpuset-cpus 0-{} ...", std::max(0, static_cast<int>(*cpu.cgroup_cpu_quota) - 1))});
  return machine_check("cpu", title, ok, evidence);
}

Check governor_check(const MachineFacts& machine) {
  const auto title = messages::title_governor();
  const auto& governor = machine.environment.governor;
  if (!governor) return machine_check("governor", title, skipped, messages::no_governor());
  const bool slow = *governor == "powersave" || *governor == "conservative";
  const auto evidence = messages::governor({.governor = *governor, .slow = slow});
  if (slow)
    return machine_check("governor", title, warn, evidence, messages::fix_governor(),
                         {"sudo cpupower frequency-set -g performance"});
  return machine_check("governor", title, ok, evidence);
}

Check memory_check(const MachineFacts& machine) {
  const auto title = messages::title_memory();
  const auto available = static_cast<double>(machine.environment.memory_available_bytes);
  const auto total = static_cast<double>(machine.environment.memory_bytes);
  if (total <= 0) return machine_check("memory", title, skipped, messages::unreadable());
  const auto evidence = messages::memory({.available = available, .total = total});
  if (available < kLittleMemory && available < 0.25 * total)
    return machine_check("memory", title, warn, evidence, messages::fix_memory(), {"ps aux --sort=-rss | head"});
  return machine_check("memory", title, ok, evidence);
}

Check shm_check(const MachineFacts& machine) {
  const auto title = messages::title_shm();
  if (!machine.shm_bytes) return machine_check("shm", title, skipped, messages::no_shm());
  const auto size = static_cast<double>(*machine.shm_bytes);
  const bool small = size < kLowShm;
  const auto evidence = messages::shm({.size = size, .small = small});
  if (small)
    return machine_check("shm", title, warn, evidence, messages::fix_shm(),
                         {machine.container ? "docker run --shm-size=8g ...   # or --ipc=host"
                                            : "sudo mount -o remount,size=8G /dev/shm"});
  return machine_check("shm", title, ok, evidence);
}

/// nullopt: there is none.
std::optional<std::int64_t> limit_of(std::int64_t limit) { return limit < 0 ? std::nullopt : std::optional(limit); }

Check files_check(const MachineFacts& machine) {
  const auto title = messages::title_open_files();
  if (!machine.open_files_soft || !machine.open_files_hard)
    return machine_check("open_files", title, skipped, messages::unreadable());
  const auto soft = *machine.open_files_soft;
  const bool few = soft >= 0 && soft < kFewFiles;
  const auto evidence =
      messages::open_files({.soft = limit_of(soft), .hard = limit_of(*machine.open_files_hard), .few = few});
  if (few)
    return machine_check("open_files", title, warn, evidence, messages::fix_open_files(),
                         {"ulimit -n 65536", "systemd unit: LimitNOFILE=65536"});
  return machine_check("open_files", title, ok, evidence);
}

/// nullopt: not known.
std::optional<messages::StorageSpeed> speed_class(const DiskFacts& disk) {
  using enum messages::StorageSpeed;
  for (const auto* network_system : {"nfs", "cifs", "smb", "lustre", "fuse", "9p", "ceph", "gpfs"})
    if (disk.file_system.rfind(network_system, 0) == 0) return network;
  if (disk.file_system == "tmpfs" || disk.file_system == "ramfs") return memory;
  if (disk.device.rfind("nvme", 0) == 0) return nvme;
  if (!disk.rotational || disk.device.empty()) return {};
  // Virtual disks call themselves rotational or not as the host pleases.
  if (disk.device.rfind("vd", 0) == 0 || disk.device.rfind("xvd", 0) == 0) return virtual_disk;
  return *disk.rotational ? rotating : ssd;
}

Check disk_check(const MachineFacts& machine) {
  const auto title = messages::title_disk();
  if (machine.disks.empty()) return machine_check("disk", title, skipped, messages::unreadable());
  const auto least = std::min_element(machine.disks.begin(), machine.disks.end(),
                                      [](const auto& a, const auto& b) { return a.free_bytes < b.free_bytes; });
  for (const auto& disk : machine.disks)
    if (!disk.writable)
      return machine_check("disk", title, fail, messages::disk_closed({.path = disk.path, .purpose = disk.purpose}),
                           messages::fix_disk_closed());
  const auto free = static_cast<double>(least->free_bytes);
  const auto evidence = messages::disk({.free = free, .path = least->path, .purpose = least->purpose});
  const std::vector<std::string> look{fmt::format("du -xh --max-depth=1 {} | sort -h | tail", least->path)};
  if (free < kNoDisk) return machine_check("disk", title, fail, evidence, messages::fix_disk_full(), look);
  if (free < kLowDisk) return machine_check("disk", title, warn, evidence, messages::fix_disk_low(), look);
  return machine_check("disk", title, ok, evidence);
}

Check storage_check(const MachineFacts& machine) {
  const auto title = messages::title_storage();
  const auto here = std::find_if(machine.disks.begin(), machine.disks.end(),
                                 [](const auto& disk) { return disk.purpose == messages::folder_current(); });
  if (here == machine.disks.end()) return machine_check("storage", title, skipped, messages::unreadable());
  const auto speed = speed_class(*here);
  if (!speed)
    return machine_check("storage", title, skipped,
                         messages::storage_unknown({.file_system = here->file_system, .device = here->device}));
  const bool slow = *speed == messages::StorageSpeed::rotating || *speed == messages::StorageSpeed::network;
  return machine_check(
      "storage", title, slow ? warn : ok,
      messages::storage({.speed = *speed, .file_system = here->file_system, .device = here->device, .slow = slow}),
      slow ? messages::fix_storage() : schema::Message());
}

}  // namespace

std::vector<Check> check_machine(const Facts& facts) {
  const auto& machine = facts.machine;
  return {cpu_check(machine),   governor_check(machine), memory_check(machine), shm_check(machine),
          files_check(machine), disk_check(machine),     storage_check(machine)};
}

}  // namespace ridgeline::doctor
