// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "doctor/checks/checks.hpp"
#include "doctor/checks/clock_reasons.hpp"
#include "doctor/checks/per_gpu.hpp"
#include "doctor/messages.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

std::string number_of(const GpuFacts& gpu) { return gpu.gpu.index ? fmt::format("{}", *gpu.gpu.index) : gpu.gpu.uuid; }

messages::GpuModel description(const schema::GpuDescription& gpu) {
  messages::GpuModel model{
      .name = gpu.name,
      .architecture = std::string(base::trim(fmt::format("{} {}", gpu.architecture, gpu.compute_capability)))};
  if (gpu.memory_bytes > 0) model.memory = static_cast<double>(gpu.memory_bytes);
  return model;
}

/// The GPUs that do not answer, one message each.
std::vector<schema::Message> lost_gpus(const Facts& facts) {
  std::vector<schema::Message> lost;
  for (const auto& gpu : facts.gpus)
    if (!gpu.error.empty())
      lost.push_back(
          messages::gpu_lost({.gpu = gpu_label(gpu.gpu), .error = gpu.error, .meanwhile = gpu.answered_before}));
  return lost;
}

Check list_check(const Facts& facts) {
  auto check = make_check(CheckGroup::gpu, "list", messages::title_list(), skipped, messages::no_gpu(), {}, {});
  if (facts.gpus.empty()) return check;
  if (const auto lost = lost_gpus(facts); !lost.empty()) {
    check.status = fail;
    check.evidence = schema::messages::several(lost);
    check.fix = messages::fix_gpu_lost();
    check.commands = {"sudo dmesg | grep -i xid"};
    for (const auto& gpu : facts.gpus)
      if (!gpu.error.empty())
        check.commands.push_back(fmt::format("sudo nvidia-smi --gpu-reset -i {}", number_of(gpu)));
    return check;
  }
  check.status = ok;
  std::map<std::string, std::pair<messages::GpuModel, int>> counts;
  for (const auto& gpu : facts.gpus) {
    const auto model = description(gpu.gpu);
    ++counts.try_emplace(as_shown(messages::gpu_model(model)), model, 0).first->second.second;
  }
  std::vector<schema::Message> models;
  for (auto& [shown, counted] : counts) {
    auto& [model, count] = counted;
    if (count > 1) model.several = count;
    models.push_back(messages::gpu_model(model));
  }
  check.evidence = schema::messages::several(models);
  // CUDA 13 dropped what came before Turing (CUDA 13.0 release notes, deprecated architectures).
  for (const auto& gpu : facts.gpus) {
    const auto capability = base::parse_number(gpu.gpu.compute_capability, "compute capability");
    if (!capability || facts.runtime.cuda_major.value_or(0) < 13 || *capability >= 7.5) continue;
    check.status = fail;
    check.evidence = messages::gpu_too_old(
        {.gpu = gpu_label(gpu.gpu), .name = gpu.gpu.name, .capability = gpu.gpu.compute_capability});
    check.fix = messages::fix_gpu_too_old();
  }
  return check;
}

GpuVerdict ecc(const GpuFacts& gpu) {
  if (!gpu.gpu.ecc) return {skipped, gpu.without_ecc ? messages::no_ecc() : messages::unreadable(), {}, {}};
  if (!*gpu.gpu.ecc) return {ok, messages::ecc_off(), {}, {}};
  const auto now = gpu.ecc.uncorrected_since_boot;
  const auto ever = gpu.ecc.uncorrected_ever;
  if (!now && !ever) return {skipped, messages::ecc_unreadable(), {}, {}};
  const std::vector<std::string> look{fmt::format("nvidia-smi -q -d ECC,ROW_REMAPPER -i {}", number_of(gpu))};
  if (now.value_or(0) > 0)
    return {fail, messages::ecc_errors(static_cast<std::int64_t>(*now)), messages::fix_ecc_errors(), look};
  if (ever.value_or(0) > 0)
    return {warn, messages::ecc_old_errors(static_cast<std::int64_t>(*ever)), messages::fix_ecc_old_errors(), look};
  std::optional<std::int64_t> corrected;
  if (const auto count = gpu.ecc.corrected_since_boot.value_or(0); count > 0)
    corrected = static_cast<std::int64_t>(count);
  return {ok, messages::ecc(corrected), {}, {}};
}

GpuVerdict rows(const GpuFacts& gpu) {
  if (!gpu.remapped_rows) return {skipped, messages::rows_not_reported(), {}, {}};
  const auto& rows = *gpu.remapped_rows;
  if (rows.failed)
    return {fail,
            messages::row_failed(rows.uncorrectable),
            messages::fix_row_failed(),
            {fmt::format("nvidia-smi -q -d ROW_REMAPPER -i {}", number_of(gpu))}};
  if (rows.pending)
    return {warn,
            messages::row_pending(),
            messages::fix_row_pending(),
            {fmt::format("sudo nvidia-smi --gpu-reset -i {}", number_of(gpu))}};
  if (rows.correctable + rows.uncorrectable > 0)
    return {ok, messages::rows({.uncorrectable = rows.uncorrectable, .correctable = rows.correctable}), {}, {}};
  return {ok, messages::no_rows(), {}, {}};
}

GpuVerdict persistence(const GpuFacts& gpu) {
  if (!gpu.gpu.persistence) return {skipped, messages::unreadable(), {}, {}};
  if (*gpu.gpu.persistence) return {ok, messages::persistence_on(), {}, {}};
  return {warn,
          messages::persistence_off(),
          messages::fix_persistence(),
          {"sudo systemctl enable --now nvidia-persistenced   # or: sudo nvidia-smi -pm 1"}};
}

GpuVerdict sharing(const GpuFacts& gpu) {
  const std::vector<std::string> default_mode{fmt::format("sudo nvidia-smi -c DEFAULT -i {}", number_of(gpu))};
  if (gpu.compute_mode == "prohibited")
    return {fail, messages::compute_prohibited(), messages::fix_compute_prohibited(), default_mode};
  if (gpu.gpu.mig.value_or(false)) {
    if (gpu.mig_instances == 0)
      return {fail,
              messages::mig_empty(),
              messages::fix_mig_empty(),
              {fmt::format("sudo nvidia-smi mig -i {} -cgi 0 -C   # or: sudo nvidia-smi -i {} -mig 0", number_of(gpu),
                           number_of(gpu))}};
    return {ok, messages::mig(gpu.mig_instances), {}, {}};
  }
  if (gpu.compute_mode == "exclusive_process")
    return {warn, messages::compute_exclusive(), messages::fix_compute_exclusive(), default_mode};
  if (!gpu.gpu.mig && !gpu.compute_mode) return {skipped, messages::unreadable(), {}, {}};
  return {ok, messages::compute_shared(gpu.gpu.mig.has_value()), {}, {}};
}

GpuVerdict power_limit(const GpuFacts& gpu) {
  const auto limit = gpu.gpu.power_limit_w;
  const auto standard = gpu.gpu.default_power_limit_w;
  if (!limit || !standard || *standard <= 0) return {skipped, messages::unreadable(), {}, {}};
  if (*limit < 0.99 * *standard)
    return {warn,
            messages::power_limit_low({.limit = *limit, .standard = *standard}),
            messages::fix_power_limit(),
            {fmt::format("sudo nvidia-smi -i {} -pl {:.0f}", number_of(gpu), *standard)}};
  messages::PowerLimit seen{.limit = *limit};
  if (*limit > 1.01 * *standard) seen.standard = *standard;
  return {ok, messages::power_limit(seen), {}, {}};
}

GpuVerdict held_down(const GpuFacts& gpu) {
  if (!gpu.clock_reasons) return {skipped, messages::unreadable(), {}, {}};
  messages::Throttled seen{.reasons = schema::clock_reason_names(*gpu.clock_reasons), .temperature = gpu.temperature_c};
  if (seen.reasons.empty()) return {ok, messages::not_throttled(), {}, {}};
  const auto fix = fix_of_reasons(*gpu.clock_reasons);
  seen.normal = fix.empty();
  if (seen.normal) return {ok, messages::throttled(seen), {}, {}};
  return {warn,
          messages::throttled(seen),
          fix,
          {fmt::format("nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER -i {}", number_of(gpu))}};
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
  messages::GpuMemory seen{.total = total};
  if (gpu.gpu.memory_free_bytes) seen.used = used;
  for (const auto& process : gpu.processes.value_or(std::vector<GpuProcess>{})) {
    if (seen.processes.size() == 3) break;
    seen.processes.push_back(
        messages::gpu_process({.name = process.name, .pid = process.pid, .memory = process.memory_bytes}));
  }
  const auto count = gpu.processes ? gpu.processes->size() : 0;
  if (count > seen.processes.size()) seen.more = static_cast<std::int64_t>(count - seen.processes.size());
  const double unclaimed = memory_of_nobody(gpu, used);
  if (unclaimed > 0 && count > 0) seen.unclaimed = unclaimed;
  if (total > 0 && used > 0.9 * total)
    return {warn,
            messages::gpu_memory(seen),
            messages::fix_gpu_memory(),
            {"nvidia-smi", "ps -o pid,user,etime,args -p PID"}};
  using List = messages::GpuMemoryList;
  if (!gpu.processes)
    seen.list = List::unreadable;
  else if (count == 0)
    seen.list = unclaimed > 0 ? List::unlisted : List::empty;
  if (unclaimed > 0)
    return {warn, messages::gpu_memory(seen), messages::fix_unclaimed(), {"sudo fuser -v /dev/nvidia*"}};
  return {gpu.processes ? ok : skipped, messages::gpu_memory(seen), {}, {}};
}

GpuVerdict nvlink(const GpuFacts& gpu) {
  if (!gpu.nvlinks || gpu.nvlinks->present == 0)
    return {skipped, gpu.without_nvlink ? messages::no_nvlink() : messages::unreadable(), {}, {}};
  const auto [active, present] = *gpu.nvlinks;
  if (active == present) return {ok, messages::nvlink(present), {}, {}};
  // Cards without a bridge or switch beside them have every link down: nothing is broken.
  if (active == 0) return {skipped, messages::nvlink_not_connected(present), {}, {}};
  return {warn,
          messages::nvlink_down({.down = present - active, .links = present}),
          messages::fix_nvlink(),
          {"nvidia-smi nvlink -s", "sudo systemctl status nvidia-fabricmanager"}};
}

GpuVerdict near_cpus(const GpuFacts& gpu, const std::vector<int>& affinity) {
  if (!gpu.numa_node || *gpu.numa_node < 0 || gpu.near_cpus.empty() || affinity.empty())
    return {skipped, messages::one_node(), {}, {}};
  const bool shared = std::any_of(affinity.begin(), affinity.end(), [&](int cpu) {
    return std::find(gpu.near_cpus.begin(), gpu.near_cpus.end(), cpu) != gpu.near_cpus.end();
  });
  if (shared) return {ok, messages::numa(*gpu.numa_node), {}, {}};
  return {warn,
          messages::numa_far(*gpu.numa_node),
          messages::fix_numa_far(),
          {fmt::format("numactl --cpunodebind={} --membind={} COMMAND", *gpu.numa_node, *gpu.numa_node)}};
}

}  // namespace

std::vector<Check> check_gpus(const Facts& facts) {
  const auto& affinity = facts.machine.environment.affinity;
  return {list_check(facts),
          check_each_gpu("ecc", messages::product("ECC"), facts, ecc),
          check_each_gpu("remapped_rows", messages::title_remapped_rows(), facts, rows),
          check_each_gpu("persistence", messages::title_persistence(), facts, persistence),
          check_each_gpu("sharing", messages::title_sharing(), facts, sharing),
          check_each_gpu("power_limit", messages::title_power_limit(), facts, power_limit),
          check_each_gpu("throttle", messages::title_throttle(), facts, held_down),
          check_each_gpu("processes", messages::title_processes(), facts, users),
          check_each_gpu("nvlink", messages::product("NVLink"), facts, nvlink),
          check_each_gpu("numa", messages::product("NUMA"), facts,
                         [&](const GpuFacts& gpu) { return near_cpus(gpu, affinity); })};
}

}  // namespace ridgeline::doctor
