// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/machine_facts.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>

#include "host/container.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

/// Of linux/magic.h and the file systems' own headers; "" for one that is not in the list.
std::string file_system_name(unsigned long magic) {
  switch (magic) {
    case 0xEF53: return "ext4";
    case 0x58465342: return "xfs";
    case 0x9123683E: return "btrfs";
    case 0x2FC12FC1: return "zfs";
    case 0xF2F52010: return "f2fs";
    case 0x794C7630: return "overlay";
    case 0x01021994: return "tmpfs";
    case 0x858458F6: return "ramfs";
    case 0x6969: return "nfs";
    case 0xFF534D42: return "cifs";
    case 0xFE534D42: return "smb2";
    case 0x0BD00BD0: return "lustre";
    case 0x65735546: return "fuse";
    case 0x01021997: return "9p";
    case 0x00C36400: return "ceph";
    case 0x47504653: return "gpfs";
    default: return "";
  }
}

/// A partition's own folder has no queue; its disk's has.
void read_device(const fs::path& path, const fs::path& root, DiskFacts& disk) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  std::error_code error;
  const auto link = root / "sys/dev/block" / fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
  auto folder = fs::canonical(link, error);
  if (error) return;
  if (!fs::exists(folder / "queue", error)) folder = folder.parent_path();
  disk.device = folder.filename().string();
  if (const auto rotational = host::SystemFiles().integer(folder / "queue/rotational"))
    disk.rotational = *rotational != 0;
}

std::optional<DiskFacts> read_disk(const schema::Message& purpose, fs::path path, const fs::path& root) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  struct statvfs space {};
  struct statfs kind {};
  if (::statvfs(path.c_str(), &space) != 0 || ::statfs(path.c_str(), &kind) != 0) return std::nullopt;
  DiskFacts disk;
  disk.purpose = purpose;
  disk.path = path.string();
  disk.free_bytes = static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
  const auto magic = static_cast<unsigned long>(kind.f_type) & 0xFFFFFFFFUL;
  disk.file_system = file_system_name(magic);
  if (disk.file_system.empty()) disk.file_system = fmt::format("type 0x{:x}", magic);
  disk.writable = ::access(path.c_str(), W_OK | X_OK) == 0;
  read_device(path, root, disk);
  return disk;
}

std::int64_t limit_of(rlim_t limit) { return limit == RLIM_INFINITY ? -1 : static_cast<std::int64_t>(limit); }

}  // namespace

MachineFacts read_machine_facts(schema::Environment environment,
                                const std::vector<std::pair<schema::Message, fs::path>>& folders,
                                const fs::path& root) {
  MachineFacts facts;
  facts.environment = std::move(environment);
  facts.container = host::in_container(host::SystemFiles(root));
  struct statvfs shm {};
  if (::statvfs((root / "dev/shm").c_str(), &shm) == 0)
    facts.shm_bytes = static_cast<std::int64_t>(shm.f_blocks) * static_cast<std::int64_t>(shm.f_frsize);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    facts.open_files_soft = limit_of(files.rlim_cur);
    facts.open_files_hard = limit_of(files.rlim_max);
  }
  for (const auto& [purpose, path] : folders)
    if (auto disk = read_disk(purpose, path, root)) facts.disks.push_back(std::move(*disk));
  return facts;
}

}  // namespace ridgeline::doctor
