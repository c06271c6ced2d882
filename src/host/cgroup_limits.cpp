// SPDX-License-Identifier: Apache-2.0
#include "host/cgroup_limits.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ridgeline::host {
namespace {

namespace fs = std::filesystem;

/// Version 1 writes "no limit" as a number near 2^63 rounded to pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

/// The folder of a cgroup and those of its ancestors, up to the mount.
std::vector<fs::path> with_ancestors(const fs::path& mount, std::string_view group) {
  std::vector<fs::path> folders{mount};
  for (const auto& part : base::split(group, '/'))
    if (!part.empty() && part != "..") folders.push_back(folders.back() / part);
  return folders;
}

void tighten_cpu(CgroupLimits& limits, double quota_us, double period_us) {
  if (quota_us <= 0 || period_us <= 0) return;
  limits.cpu_quota = std::min(limits.cpu_quota.value_or(quota_us / period_us), quota_us / period_us);
}

void tighten_memory(CgroupLimits& limits, std::int64_t bytes, std::optional<std::int64_t> used,
                    std::optional<std::int64_t> reclaimable) {
  if (bytes <= 0 || bytes >= kNoLimit || (limits.memory_bytes && *limits.memory_bytes <= bytes)) return;
  limits.memory_bytes = bytes;
  limits.memory_used_bytes =
      used ? std::optional(std::max<std::int64_t>(0, *used - reclaimable.value_or(0))) : std::nullopt;
}

/// A counter of a file of lines "name number".
std::optional<std::int64_t> counter(const SystemFiles& files, const fs::path& file, std::string_view name) {
  const auto content = files.text(file);
  if (!content) return std::nullopt;
  for (const auto& line : base::split(*content, '\n')) {
    const auto words = base::split(line, ' ');
    if (words.size() != 2 || words[0] != name) continue;
    const auto number = base::parse_integer(words[1], name);
    return number ? std::optional(*number) : std::nullopt;
  }
  return std::nullopt;
}

void read_version_2(CgroupLimits& limits, const SystemFiles& files, const fs::path& folder) {
  if (const auto cpu = files.text(folder / "cpu.max")) {  // "150000 100000", or "max 100000"
    const auto words = base::split(*cpu, ' ');
    const auto quota = base::parse_number(words[0], "cpu.max");
    const auto period = base::parse_number(words.size() > 1 ? words[1] : "100000", "cpu.max");
    if (quota && period) tighten_cpu(limits, *quota, *period);
  }
  if (const auto bytes = files.integer(folder / "memory.max"))
    tighten_memory(limits, *bytes, files.integer(folder / "memory.current"),
                   counter(files, folder / "memory.stat", "inactive_file"));
}

void read_version_1_cpu(CgroupLimits& limits, const SystemFiles& files, const fs::path& folder) {
  const auto quota = files.integer(folder / "cpu.cfs_quota_us");  // -1: none
  const auto period = files.integer(folder / "cpu.cfs_period_us");
  if (quota && period) tighten_cpu(limits, static_cast<double>(*quota), static_cast<double>(*period));
}

void read_version_1_memory(CgroupLimits& limits, const SystemFiles& files, const fs::path& folder) {
  if (const auto bytes = files.integer(folder / "memory.limit_in_bytes"))
    tighten_memory(limits, *bytes, files.integer(folder / "memory.usage_in_bytes"),
                   counter(files, folder / "memory.stat", "total_inactive_file"));
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = base::split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr const char* kMount = "sys/fs/cgroup";

struct Group {
  std::string controllers;  ///< "": version 2
  std::string path;
};

std::vector<Group> own_groups(const SystemFiles& files) {
  std::vector<Group> out;
  for (const auto& line : base::split(files.text("proc/self/cgroup").value_or(""), '\n')) {
    const auto first = line.find(':');  // "4:memory:/path", "0::/path"
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second != std::string::npos)
      out.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return out;
}

}  // namespace

CgroupLimits read_cgroup_limits(const SystemFiles& files) {
  CgroupLimits limits;
  const fs::path mount = kMount;
  for (const auto& [controllers, group] : own_groups(files)) {
    if (controllers.empty()) {
      for (const auto& root : {mount, mount / "unified"})
        for (const auto& folder : with_ancestors(root, group)) read_version_2(limits, files, folder);
    } else if (has_word(controllers, "cpu")) {
      for (const auto* name : {"cpu", "cpu,cpuacct", "cpuacct,cpu"})
        for (const auto& folder : with_ancestors(mount / name, group)) read_version_1_cpu(limits, files, folder);
    } else if (has_word(controllers, "memory")) {
      for (const auto& folder : with_ancestors(mount / "memory", group)) read_version_1_memory(limits, files, folder);
    }
  }
  return limits;
}

std::optional<std::int64_t> oom_kills(const SystemFiles& files) {
  const auto groups = own_groups(files);
  const auto count = [&](const char* controller, const fs::path& mount, const char* file) {
    std::optional<std::int64_t> found;
    for (const auto& [controllers, group] : groups)  // in a container the group's own folder may not be there
      if (controllers == controller && !found)
        found = counter(files, mount / fs::path(group).relative_path() / file, "oom_kill");
    return found ? found : counter(files, mount / file, "oom_kill");
  };
  if (const auto kills = count("", kMount, "memory.events")) return kills;
  if (const auto kills = count("memory", fs::path(kMount) / "memory", "memory.oom_control")) return kills;
  return counter(files, "proc/vmstat", "oom_kill");
}

}  // namespace ridgeline::host
