// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/checks/clock_reasons.hpp"
#include "doctor/checks/per_gpu.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

std::string number_of(const GpuFacts& gpu) { return gpu.gpu.index ? fmt::format("{}", *gpu.gpu.index) : gpu.gpu.uuid; }

std::string description(const schema::GpuDescription& gpu) {
  std::vector<std::string> parts;
  if (!gpu.architecture.empty() || !gpu.compute_capability.empty())
    parts.push_back(std::string(base::trim(fmt::format("{} {}", gpu.architecture, gpu.compute_capability))));
  if (gpu.memory_bytes > 0) parts.push_back(base::format_bytes(static_cast<double>(gpu.memory_bytes)));
  return parts.empty() ? gpu.name : fmt::format("{} ({})", gpu.name, fmt::join(parts, ", "));
}

Check list_check(const Facts& facts) {
  Check check{"gpu.list", "Found", CheckGroup::gpu, skipped, "no GPU", {}, {}};
  if (facts.gpus.empty()) return check;
  std::vector<std::string> lost;
  std::vector<std::string> commands{"sudo dmesg | grep -i xid"};
  for (const auto& gpu : facts.gpus) {
    if (gpu.error.empty()) continue;
    lost.push_back(fmt::format("{} does not answer: {}", gpu_label(gpu.gpu), gpu.error));
    commands.push_back(fmt::format("sudo nvidia-smi --gpu-reset -i {}", number_of(gpu)));
  }
  if (!lost.empty()) {
    check.status = fail;
    check.evidence = fmt::format("{}", fmt::join(lost, "; "));
    check.fix =
        "look for its Xid in the kernel's log; a reset or a reboot brings it back, and a second time the card is to "
        "be checked";
    check.commands = std::move(commands);
    return check;
  }
  check.status = ok;
  std::map<std::string, std::size_t> counts;
  for (const auto& gpu : facts.gpus) ++counts[description(gpu.gpu)];
  std::vector<std::string> texts;
  for (const auto& [text, count] : counts) texts.push_back(count == 1 ? text : fmt::format("{} x {}", count, text));
  check.evidence = fmt::format("{}", fmt::join(texts, "; "));
  // CUDA 13 dropped what came before Turing (CUDA 13.0 release notes, deprecated architectures).
  for (const auto& gpu : facts.gpus) {
    const auto capability = base::parse_number(gpu.gpu.compute_capability, "compute capability");
    if (!capability || facts.runtime.cuda_major.value_or(0) < 13 || *capability >= 7.5) continue;
    check.status = fail;
    check.evidence = fmt::format("{} ({}): compute capability {} is older than CUDA 13 serves (7.5)",
                                 gpu_label(gpu.gpu), gpu.gpu.name, gpu.gpu.compute_capability);
    check.fix = "take an ONNX Runtime built for CUDA 12 on this card";
  }
  return check;
}

GpuVerdict ecc(const GpuFacts& gpu) {
  if (!gpu.gpu.ecc) return {skipped, gpu.without_ecc ? "this GPU has no ECC" : "cannot be read", {}, {}};
  if (!*gpu.gpu.ecc) return {ok, "ECC is off", {}, {}};
  const auto now = gpu.ecc.uncorrected_since_boot;
  const auto ever = gpu.ecc.uncorrected_ever;
  if (!now && !ever) return {skipped, "ECC is on, its counters cannot be read", {}, {}};
  if (now.value_or(0) > 0)
    return {fail,
            fmt::format("{} uncorrected errors since the driver was loaded", *now),
            "results of this GPU cannot be trusted: drain it, reset it, and have it checked if they come back",
            {fmt::format("nvidia-smi -q -d ECC,ROW_REMAPPER -i {}", number_of(gpu))}};
  if (ever.value_or(0) > 0)
    return {warn,
            fmt::format("ECC is on; {} uncorrected errors in the card's life, none since the driver was loaded", *ever),
            "watch it; rising numbers are a warranty case",
            {fmt::format("nvidia-smi -q -d ECC,ROW_REMAPPER -i {}", number_of(gpu))}};
  return {ok,
          fmt::format("ECC is on, no uncorrected errors{}",
                      gpu.ecc.corrected_since_boot.value_or(0) > 0
                          ? fmt::format(", {} corrected", *gpu.ecc.corrected_since_boot)
                          : ""),
          {},
          {}};
}

GpuVerdict rows(const GpuFacts& gpu) {
  if (!gpu.remapped_rows) return {skipped, "not reported", {}, {}};
  const auto& rows = *gpu.remapped_rows;
  if (rows.failed)
    return {fail,
            fmt::format("a memory row could not be remapped ({} uncorrectable so far)", rows.uncorrectable),
            "no spare rows are left: have the card replaced",
            {fmt::format("nvidia-smi -q -d ROW_REMAPPER -i {}", number_of(gpu))}};
  if (rows.pending)
    return {warn,
            "a row is to be remapped at the next reset",
            "reset the GPU when nothing runs on it, or reboot",
            {fmt::format("sudo nvidia-smi --gpu-reset -i {}", number_of(gpu))}};
  if (rows.correctable + rows.uncorrectable > 0)
    return {ok,
            fmt::format("{} after uncorrectable errors, {} after corrected ones; spare rows are left",
                        rows.uncorrectable, rows.correctable),
            {},
            {}};
  return {ok, "none", {}, {}};
}

GpuVerdict persistence(const GpuFacts& gpu) {
  if (!gpu.gpu.persistence) return {skipped, "cannot be read", {}, {}};
  if (*gpu.gpu.persistence) return {ok, "on", {}, {}};
  return {warn,
          "off: the driver unloads the GPU whenever nobody uses it, and each first use takes a second or more",
          "switch it on at boot",
          {"sudo systemctl enable --now nvidia-persistenced   # or: sudo nvidia-smi -pm 1"}};
}

GpuVerdict sharing(const GpuFacts& gpu) {
  if (gpu.compute_mode == "prohibited")
    return {fail,
            "compute mode is prohibited: no program may use CUDA",
            "set the default mode",
            {fmt::format("sudo nvidia-smi -c DEFAULT -i {}", number_of(gpu))}};
  if (gpu.gpu.mig.value_or(false)) {
    if (gpu.mig_instances == 0)
      return {fail,
              "MIG is on, but there is no instance: CUDA sees no device",
              "make instances, or switch MIG off",
              {fmt::format("sudo nvidia-smi mig -i {} -cgi 0 -C   # or: sudo nvidia-smi -i {} -mig 0", number_of(gpu),
                           number_of(gpu))}};
    return {ok,
            gpu.mig_instances ? fmt::format("MIG is on, {} instances: choose one with CUDA_VISIBLE_DEVICES=MIG-...",
                                            *gpu.mig_instances)
                              : "MIG is on: choose an instance with CUDA_VISIBLE_DEVICES=MIG-...",
            {},
            {}};
  }
  if (gpu.compute_mode == "exclusive_process")
    return {warn,
            "compute mode is exclusive_process: a second process gets no context",
            "set the default mode unless the machine is managed so on purpose",
            {fmt::format("sudo nvidia-smi -c DEFAULT -i {}", number_of(gpu))}};
  if (!gpu.gpu.mig && !gpu.compute_mode) return {skipped, "cannot be read", {}, {}};
  return {ok, gpu.gpu.mig ? "MIG is off, any process may use it" : "any process may use it", {}, {}};
}

GpuVerdict power_limit(const GpuFacts& gpu) {
  const auto limit = gpu.gpu.power_limit_w;
  const auto standard = gpu.gpu.default_power_limit_w;
  if (!limit || !standard || *standard <= 0) return {skipped, "cannot be read", {}, {}};
  if (*limit < 0.99 * *standard)
    return {warn,
            fmt::format("{:.0f} W, the default is {:.0f} W: clocks drop under load", *limit, *standard),
            "set the default back, unless the limit is there on purpose (cooling, power supply)",
            {fmt::format("sudo nvidia-smi -i {} -pl {:.0f}", number_of(gpu), *standard)}};
  return {ok,
          fmt::format("{:.0f} W{}", *limit,
                      *limit > 1.01 * *standard ? fmt::format(" (default {:.0f} W)", *standard) : ", the default"),
          {},
          {}};
}

GpuVerdict held_down(const GpuFacts& gpu) {
  if (!gpu.clock_reasons) return {skipped, "cannot be read", {}, {}};
  const auto names = schema::clock_reason_names(*gpu.clock_reasons);
  const auto heat = gpu.temperature_c ? fmt::format(" at {:.0f} C", *gpu.temperature_c) : "";
  if (names.empty()) return {ok, "nothing throttles the clocks", {}, {}};
  const auto evidence = fmt::format("{}{}", fmt::join(names, ", "), heat);
  const auto fix = fix_of_reasons(*gpu.clock_reasons);
  if (fix.empty()) return {ok, evidence + ": normal under full load", {}, {}};
  return {warn, evidence, fix, {fmt::format("nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER -i {}", number_of(gpu))}};
}

/// Memory in use beyond what the listed processes hold; 0 where that is unknown.
double memory_of_nobody(const GpuFacts& gpu, double used) {
  if (!gpu.processes || gpu.gpu.mig.value_or(false)) return 0;
  double left = used;
  for (const auto& process : *gpu.processes) {
    if (!process.memory_bytes) return 0;
    left -= static_cast<double>(*process.memory_bytes);
  }
  constexpr double kReserve = 2e9;  // what driver and ECC keep for themselves stays below on every card so far
  return left > kReserve && left > 0.05 * static_cast<double>(gpu.gpu.memory_bytes) ? left : 0;
}

GpuVerdict users(const GpuFacts& gpu) {
  const auto total = static_cast<double>(gpu.gpu.memory_bytes);
  const double used = gpu.gpu.memory_free_bytes ? total - static_cast<double>(*gpu.gpu.memory_free_bytes) : 0;
  std::vector<std::string> names;
  for (const auto& process : gpu.processes.value_or(std::vector<GpuProcess>{})) {
    if (names.size() == 3) break;
    names.push_back(
        fmt::format("{} {}{}", process.name.empty() ? "process" : process.name, process.pid,
                    process.memory_bytes ? " " + base::format_bytes(static_cast<double>(*process.memory_bytes)) : ""));
  }
  const auto count = gpu.processes ? gpu.processes->size() : 0;
  if (count > names.size()) names.push_back(fmt::format("{} more", count - names.size()));
  const auto memory = gpu.gpu.memory_free_bytes
                          ? fmt::format("{} of {} in use", base::format_bytes(used), base::format_bytes(total))
                          : std::string("memory use unknown");
  const double unclaimed = memory_of_nobody(gpu, used);
  if (unclaimed > 0 && count > 0)
    names.push_back(fmt::format("{} by no process that is listed", base::format_bytes(unclaimed)));
  const auto evidence = names.empty() ? memory : fmt::format("{}; {}", memory, fmt::join(names, ", "));
  const std::vector<std::string> look{"nvidia-smi", "ps -o pid,user,etime,args -p PID"};
  if (total > 0 && used > 0.9 * total)
    return {warn, evidence, "little memory is left: end what is not needed, or take another GPU", look};
  if (unclaimed > 0)
    return {warn,
            count == 0 ? memory + ", but no process is listed" : evidence,
            "another container or user holds it, or a process hangs in its exit: look from the host",
            {"sudo fuser -v /dev/nvidia*"}};
  if (!gpu.processes) return {skipped, memory + "; the process list cannot be read", {}, {}};
  return {ok, count == 0 ? memory + ", no process" : evidence, {}, {}};
}

GpuVerdict nvlink(const GpuFacts& gpu) {
  if (!gpu.nvlinks || gpu.nvlinks->present == 0)
    return {skipped, gpu.without_nvlink ? "no NVLink" : "cannot be read", {}, {}};
  const auto [active, present] = *gpu.nvlinks;
  if (active == present) return {ok, fmt::format("all {} links up", present), {}, {}};
  // Cards without a bridge or switch beside them have every link down: nothing is broken.
  if (active == 0) return {skipped, fmt::format("not connected ({} links down)", present), {}, {}};
  return {warn,
          fmt::format("{} of {} links down", present - active, present),
          "check bridge or switch board; on NVSwitch machines the fabric manager must run",
          {"nvidia-smi nvlink -s", "sudo systemctl status nvidia-fabricmanager"}};
}

GpuVerdict near_cpus(const GpuFacts& gpu, const std::vector<int>& affinity) {
  if (!gpu.numa_node || *gpu.numa_node < 0 || gpu.near_cpus.empty() || affinity.empty())
    return {skipped, "one memory node, or not reported", {}, {}};
  const bool shared = std::any_of(affinity.begin(), affinity.end(), [&](int cpu) {
    return std::find(gpu.near_cpus.begin(), gpu.near_cpus.end(), cpu) != gpu.near_cpus.end();
  });
  if (shared) return {ok, fmt::format("NUMA node {}, whose CPUs this process may use", *gpu.numa_node), {}, {}};
  return {warn,
          fmt::format("NUMA node {}, but this process may only use CPUs of other nodes: every copy crosses the socket",
                      *gpu.numa_node),
          "start the service on that node",
          {fmt::format("numactl --cpunodebind={} --membind={} COMMAND", *gpu.numa_node, *gpu.numa_node)}};
}

}  // namespace

std::vector<Check> check_gpus(const Facts& facts) {
  const auto& affinity = facts.machine.environment.affinity;
  return {list_check(facts),
          check_each_gpu("ecc", "ECC", facts, ecc),
          check_each_gpu("remapped_rows", "Remapped rows", facts, rows),
          check_each_gpu("persistence", "Persistence mode", facts, persistence),
          check_each_gpu("sharing", "MIG, compute mode", facts, sharing),
          check_each_gpu("power_limit", "Power limit", facts, power_limit),
          check_each_gpu("throttle", "Throttled now by", facts, held_down),
          check_each_gpu("processes", "Memory, processes", facts, users),
          check_each_gpu("nvlink", "NVLink", facts, nvlink),
          check_each_gpu("numa", "NUMA", facts, [&](const GpuFacts& gpu) { return near_cpus(gpu, affinity); })};
}

}  // namespace ridgeline::doctor
