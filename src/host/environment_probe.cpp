// SPDX-License-Identifier: Apache-2.0
#include "host/environment_probe.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/cgroup_limits.hpp"
#include "host/cpu_topology.hpp"
#include "host/load.hpp"
#include "host/nvidia_driver.hpp"
#include "host/system_files.hpp"
#include "schema/messages.hpp"

namespace ridgeline::host {
namespace {

namespace fs = std::filesystem;

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
std::string os_name(const SystemFiles& files) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (const auto* path : {"etc/os-release", "usr/lib/os-release"}) {
    const auto content = files.text(path);
    if (!content) continue;
    for (const auto& line : base::split(*content, '\n')) {
      if (line.rfind(kKey, 0) != 0) continue;
      auto name = base::trim(std::string_view(line).substr(kKey.size()));
      if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front())
        name = name.substr(1, name.size() - 2);
      return std::string(name);
    }
  }
  return "";
}

/// What the NVIDIA kernel driver says without any library being loaded.
void read_gpus(const SystemFiles& files, schema::Environment& environment) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(files.root() / "proc/driver/nvidia/gpus", error), end; !error && at != end;
       at.increment(error))
    folders.push_back(fs::path("proc/driver/nvidia/gpus") / at->path().filename() / "information");
  std::sort(folders.begin(), folders.end());
  for (const auto& information : folders) {
    const auto model = files.field(information, "Model");
    if (!model) continue;
    schema::GpuDescription gpu;
    gpu.name = *model;
    gpu.uuid = files.field(information, "GPU UUID").value_or("");
    gpu.driver_version = nvidia_module_version(files);
    environment.gpus.push_back(std::move(gpu));
  }
  if (environment.gpus.empty()) environment.gpu_note = schema::messages::no_gpu_listed();
}

void read_memory(const SystemFiles& files, const CgroupLimits& limits, schema::Environment& environment) {
  const auto memory = read_memory_size(files);
  environment.memory_bytes = memory.total_bytes.value_or(0);
  environment.memory_available_bytes = memory.available_bytes.value_or(0);
  if (!limits.memory_bytes || (environment.memory_bytes > 0 && *limits.memory_bytes >= environment.memory_bytes))
    return;
  environment.memory_bytes = *limits.memory_bytes;
  const auto left = std::max<std::int64_t>(0, *limits.memory_bytes - limits.memory_used_bytes.value_or(0));
  environment.memory_available_bytes =
      environment.memory_available_bytes > 0 ? std::min(environment.memory_available_bytes, left) : left;
}

}  // namespace

schema::Environment probe_environment(const fs::path& root) {
  const SystemFiles files(root);
  const auto topology = read_cpu_topology(files);
  const auto limits = read_cgroup_limits(files);
  schema::Environment environment;
  environment.cpu_model = topology.model;
  environment.logical_cpus = topology.online;
  environment.physical_cores = topology.usable_cores;
  environment.affinity = topology.affinity;
  environment.core_siblings = topology.core_siblings;
  environment.cgroup_cpu_quota = limits.cpu_quota;
  environment.usable_cpus = static_cast<double>(topology.affinity.size());
  if (limits.cpu_quota && environment.usable_cpus > 0)
    environment.usable_cpus = std::min(environment.usable_cpus, *limits.cpu_quota);
  environment.smt = topology.smt;
  environment.governor = topology.governor;
  environment.isa = topology.isa;
  environment.numa_nodes = topology.numa_nodes;
  read_memory(files, limits, environment);
  environment.os = os_name(files);
  environment.kernel = files.text("proc/sys/kernel/osrelease").value_or("");
  environment.hostname = files.text("proc/sys/kernel/hostname").value_or("");
  environment.load_average = load_average(files);
  read_gpus(files, environment);
  environment.ridgeline_version = std::string(base::version());
  return environment;
}

}  // namespace ridgeline::host
