// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_topology.hpp"

#include <sched.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::host {
namespace {

constexpr std::string_view kExtensions[] = {
    "sse4_2",      "avx",         "f16c",        "fma",      "avx2",     "avx_vnni", "avx512f", "avx512bw",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",                     // x86
    "asimd",       "asimdhp",     "asimddp",     "i8mm",     "bf16",     "sve",      "sve2",    "sme"};  // Arm

/// (package, core) of a logical CPU.
using Core = std::pair<std::int64_t, std::int64_t>;

/// One processor's paragraph of /proc/cpuinfo.
struct Processor {
  int number = 0;
  std::optional<Core> core;
};

std::vector<Processor> processors(const std::string& cpuinfo) {
  std::vector<Processor> found;
  std::int64_t package = -1;  // not said yet
  for (const auto& line : base::split(cpuinfo, '\n')) {
    const auto number_of = [&](std::string_view key) -> std::optional<std::int64_t> {
      const auto value = value_of_line(line, key);
      if (!value) return std::nullopt;
      const auto number = base::parse_integer(*value, key);
      return number ? std::optional(*number) : std::nullopt;
    };
    if (const auto number = number_of("processor")) {
      found.push_back({static_cast<int>(*number), std::nullopt});
      package = -1;
    }
    if (const auto number = number_of("physical id")) package = *number;
    if (const auto number = number_of("core id"); number && package >= 0 && !found.empty())
      found.back().core = {package, *number};
  }
  return found;
}

std::optional<Core> core_of(const SystemFiles& files, const std::vector<Processor>& listed, int cpu) {
  const auto folder = std::filesystem::path(fmt::format("sys/devices/system/cpu/cpu{}/topology", cpu));
  const auto package = files.integer(folder / "physical_package_id");
  const auto core = files.integer(folder / "core_id");
  if (package && core) return Core(*package, *core);
  for (const auto& processor : listed)
    if (processor.number == cpu) return processor.core;
  return std::nullopt;
}

/// NUMA node by logical CPU; a machine without the folder is one node.
std::map<int, int> numa_nodes(const SystemFiles& files, const std::vector<int>& nodes) {
  std::map<int, int> node_of;
  for (const int node : nodes)
    for (const int cpu :
         files.cpu_list(fmt::format("sys/devices/system/node/node{}/cpulist", node)).value_or(std::vector<int>{}))
      node_of[cpu] = node;
  return node_of;
}

/// CPUs by core, cores ordered by node; empty as soon as one CPU's core is unknown.
std::vector<std::vector<int>> group_by_core(const SystemFiles& files, const std::vector<Processor>& listed,
                                            const std::vector<int>& cpus, const std::map<int, int>& node_of) {
  std::map<std::pair<int, Core>, std::vector<int>> cores;
  for (const int cpu : cpus) {
    const auto core = core_of(files, listed, cpu);
    if (!core) return {};
    const auto node = node_of.find(cpu);
    cores[{node != node_of.end() ? node->second : 0, *core}].push_back(cpu);
  }
  std::vector<std::vector<int>> groups;
  for (auto& [place, siblings] : cores) groups.push_back(std::move(siblings));
  return groups;
}

std::string model_name(const SystemFiles& files) {
  const std::filesystem::path cpuinfo = "proc/cpuinfo";
  for (const auto* key : {"model name", "Model Name", "cpu", "Hardware"})
    if (auto name = files.field(cpuinfo, key); name && !name->empty()) return *name;
  const auto implementer = files.field(cpuinfo, "CPU implementer");
  const auto part = files.field(cpuinfo, "CPU part");
  return implementer && part ? fmt::format("Arm implementer {} part {}", *implementer, *part) : "";
}

std::vector<int> scheduler_affinity() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

CpuTopology read_cpu_topology(const SystemFiles& files) {
  CpuTopology topology;
  topology.model = model_name(files);
  const auto listed = processors(files.text("proc/cpuinfo").value_or(""));
  std::vector<int> online;
  if (const auto list = files.cpu_list("sys/devices/system/cpu/online"))
    online = *list;
  else
    for (const auto& processor : listed) online.push_back(processor.number);

  // The kernel's own text says what sched_getaffinity says, and a fixture tree can hold it.
  if (const auto allowed = files.field("proc/self/status", "Cpus_allowed_list"))
    topology.affinity = parse_cpu_list(*allowed).value_or(std::vector<int>{});
  if (topology.affinity.empty() && files.root() == "/") topology.affinity = scheduler_affinity();
  if (topology.affinity.empty()) topology.affinity = online;
  if (online.empty()) online = topology.affinity;
  // The allowed list may name CPUs that are offline or do not exist.
  const std::set<int> present(online.begin(), online.end());
  topology.affinity.erase(std::remove_if(topology.affinity.begin(), topology.affinity.end(),
                                         [&](int cpu) { return present.count(cpu) == 0; }),
                          topology.affinity.end());
  topology.online = static_cast<int>(online.size());

  const auto nodes = files.cpu_list("sys/devices/system/node/online").value_or(std::vector<int>{0});
  topology.numa_nodes = static_cast<int>(nodes.size());
  const auto node_of = numa_nodes(files, nodes);
  topology.core_siblings = group_by_core(files, listed, topology.affinity, node_of);
  topology.usable_cores =
      static_cast<int>(topology.core_siblings.empty() ? topology.affinity.size() : topology.core_siblings.size());
  if (const auto active = files.integer("sys/devices/system/cpu/smt/active"))
    topology.smt = *active != 0;
  else if (const auto cores = group_by_core(files, listed, online, node_of); !cores.empty())
    topology.smt = cores.size() < online.size();
  if (!topology.affinity.empty())
    topology.governor =
        files.text(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", topology.affinity.front()));

  auto flags = files.field("proc/cpuinfo", "flags");
  if (!flags) flags = files.field("proc/cpuinfo", "Features");
  const auto words = base::split(flags.value_or(""), ' ');
  const std::set<std::string, std::less<>> known(words.begin(), words.end());
  for (const auto extension : kExtensions)
    if (known.find(extension) != known.end()) topology.isa.emplace_back(extension);
  return topology;
}

}  // namespace ridgeline::host
