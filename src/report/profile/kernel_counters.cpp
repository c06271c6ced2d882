// SPDX-License-Identifier: Apache-2.0
#include "report/profile/kernel_counters.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileCounter;
using schema::ProfileKernel;

/// Names of a counter: of `--page raw` by the generations of GPUs, then that of the details page.
struct QuantityNames {
  std::string_view title;
  std::array<std::string_view, 6> names;
};

constexpr std::array kTimes{
    QuantityNames{"time of a counted launch", {"gpu__time_duration.sum", "Duration"}},
    QuantityNames{"compute, share of peak",
                  {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput"}},
    QuantityNames{"memory, share of peak",
                  {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput"}},
    QuantityNames{"tensor pipe active",
                  {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                   "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                   "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
                   "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed",
                   "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
                   "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active"}}};

constexpr std::array kMemory{
    QuantityNames{"DRAM read", {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}},
    QuantityNames{"DRAM written", {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}},
    QuantityNames{"DRAM read and written", {"dram__bytes.sum"}},
    QuantityNames{"DRAM, share of peak",
                  {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
                   "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"}},
    QuantityNames{"L2 bytes", {"lts__t_bytes.sum"}},
    QuantityNames{"L2 hit rate", {"lts__t_sector_hit_rate.pct", "L2 Hit Rate"}},
    QuantityNames{"L2, share of peak", {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput"}},
    QuantityNames{"L1/TEX bytes", {"l1tex__t_bytes.sum"}},
    QuantityNames{"L1/TEX hit rate", {"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate"}},
    QuantityNames{"L1/TEX, share of peak",
                  {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
                   "l1tex__throughput.avg.pct_of_peak_sustained_active", "L1/TEX Cache Throughput"}}};

constexpr std::array kOccupancy{
    QuantityNames{"achieved occupancy", {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}},
    QuantityNames{"theoretical occupancy", {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"}}};

constexpr std::array kResources{
    QuantityNames{"registers per thread", {"launch__registers_per_thread", "Registers Per Thread"}},
    QuantityNames{"shared memory per block", {"launch__shared_mem_per_block"}},
    QuantityNames{"shared memory per block, static",
                  {"launch__shared_mem_per_block_static", "Static Shared Memory Per Block"}},
    QuantityNames{"shared memory per block, dynamic",
                  {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block"}},
    QuantityNames{"waves of blocks", {"launch__waves_per_multiprocessor", "Waves Per SM"}},
    QuantityNames{"instructions per cycle", {"sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active"}},
    QuantityNames{"issue slots busy",
                  {"sm__inst_issued.avg.pct_of_peak_sustained_active",
                   "smsp__issue_active.avg.pct_of_peak_sustained_active", "Issue Slots Busy"}},
    QuantityNames{"warp cycles per instruction",
                  {"smsp__average_warp_latency_per_inst_issued.ratio", "Warp Cycles Per Issued Instruction"}}};

/// What keeps more blocks from a multiprocessor; the fewest blocks decide.
constexpr std::array kLimits{
    QuantityNames{"registers", {"launch__occupancy_limit_registers", "Block Limit Registers"}},
    QuantityNames{"shared memory", {"launch__occupancy_limit_shared_mem", "Block Limit Shared Mem"}},
    QuantityNames{"warps", {"launch__occupancy_limit_warps", "Block Limit Warps"}},
    QuantityNames{"blocks", {"launch__occupancy_limit_blocks", "Block Limit SM"}},
    QuantityNames{"barriers", {"launch__occupancy_limit_barriers", "Block Limit Barriers"}}};

/// Counters of one stall each, whose name has the reason between these; the first family that a file has is taken.
struct StallFamily {
  std::string_view prefix;
  std::string_view suffix;
  std::string_view unit;
};
constexpr std::array kStallFamilies{
    StallFamily{"smsp__average_warps_issue_stalled_", "_per_issue_active.ratio", "cycles per issue"},
    StallFamily{"smsp__average_warp_latency_issue_stalled_", ".ratio", "cycles per issue"},
    StallFamily{"smsp__warp_issue_stalled_", "_per_warp_active.pct", "%"},
    StallFamily{"smsp__pcsamp_warps_issue_stalled_", "", "samples"}};
constexpr std::string_view kWarpLatency = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr std::string_view kNotIssued = "_not_issued";  // the same, counted only where the scheduler issued nothing
constexpr std::string_view kSelected = "selected";      // the warp issues: no stall

using WaitsOn = messages::WarpWaitsOn;
constexpr std::array kWaits{std::pair{"long_scoreboard", WaitsOn::l2},
                            std::pair{"short_scoreboard", WaitsOn::shared},
                            std::pair{"math_pipe_throttle", WaitsOn::pipe},
                            std::pair{"mio_throttle", WaitsOn::mio},
                            std::pair{"lg_throttle", WaitsOn::lg},
                            std::pair{"tex_throttle", WaitsOn::textures},
                            std::pair{"barrier", WaitsOn::barrier},
                            std::pair{"membar", WaitsOn::fence},
                            std::pair{"wait", WaitsOn::latency},
                            std::pair{"not_selected", WaitsOn::turn},
                            std::pair{"no_instructions", WaitsOn::fetch},
                            std::pair{"no_instruction", WaitsOn::fetch},
                            std::pair{"dispatch_stall", WaitsOn::dispatcher},
                            std::pair{"drain", WaitsOn::stores},
                            std::pair{"imc_miss", WaitsOn::constants},
                            std::pair{"branch_resolving", WaitsOn::branch},
                            std::pair{"gmma", WaitsOn::group}};

const ProfileCounter* find_counter(const ProfileKernel& kernel, std::string_view name) {
  const auto at = std::find_if(kernel.counters.begin(), kernel.counters.end(),
                               [&](const auto& counter) { return counter.name == name; });
  return at == kernel.counters.end() ? nullptr : &*at;
}

const ProfileCounter* find_counter(const ProfileKernel& kernel, const QuantityNames& quantity) {
  for (const auto name : quantity.names)
    if (!name.empty())
      if (const auto* found = find_counter(kernel, name)) return found;
  return nullptr;
}

/// The title names what is counted: "64", not "64 register/thread".
std::string quantity_text(const ProfileCounter& counter) {
  const bool has_unit =
      counter.unit == "%" || counter.unit == "ns" || counter.unit == "hz" || counter.unit.starts_with("byte");
  return has_unit ? counter_text(counter.mean(), counter.unit) : fmt::format("{:.4g}", counter.mean());
}

template <std::size_t Count>
void add_quantities(const ProfileKernel& kernel, const std::array<QuantityNames, Count>& quantities,
                    std::vector<KernelQuantity>& out) {
  for (const auto& quantity : quantities)
    if (const auto* counter = find_counter(kernel, quantity))
      out.push_back({std::string(quantity.title), counter, quantity_text(*counter)});
}

/// The resource that allows the fewest blocks a multiprocessor, or several of them.
std::optional<KernelQuantity> occupancy_limit(const ProfileKernel& kernel) {
  std::vector<std::string> names;
  const ProfileCounter* least = nullptr;
  for (const auto& limit : kLimits) {
    const auto* counter = find_counter(kernel, limit);
    if (counter == nullptr || (least != nullptr && counter->mean() > least->mean())) continue;
    if (least == nullptr || counter->mean() < least->mean()) {
      least = counter;
      names.clear();
    }
    names.emplace_back(limit.title);
  }
  if (least == nullptr) return std::nullopt;
  return KernelQuantity{
      "occupancy limited by", least,
      fmt::format("{} ({:.3g} block{})", base::listed(names), least->mean(), least->mean() == 1 ? "" : "s")};
}

/// "long_scoreboard" of the family's counter; "" of another.
std::string_view stall_reason(std::string_view name, const StallFamily& family) {
  if (name.size() <= family.prefix.size() + family.suffix.size() || !name.starts_with(family.prefix) ||
      !name.ends_with(family.suffix))
    return {};
  const auto reason = name.substr(family.prefix.size(), name.size() - family.prefix.size() - family.suffix.size());
  return reason.ends_with(kNotIssued) ? std::string_view() : reason;
}

schema::Message waits_for(std::string_view reason) {
  const auto* found = std::find_if(kWaits.begin(), kWaits.end(), [&](const auto& one) { return one.first == reason; });
  return found == kWaits.end() ? schema::Message() : messages::warp_waits(found->second);
}

}  // namespace

std::string counter_text(double value, const std::string& unit) {
  if (unit == "ns") return base::format_duration(value);
  if (unit == "%") return fmt::format("{:.3g} %", value);
  if (unit == "byte" || unit == "byte/block") return base::format_bytes(value);
  if (unit == "byte/s") return fmt::format("{:.4g} GB/s", value * 1e-9);
  if (unit == "hz") return fmt::format("{:.3g} GHz", value * 1e-9);
  return fmt::format("{:.6g}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::vector<KernelQuantity> kernel_quantities(const ProfileKernel& kernel) {
  std::vector<KernelQuantity> out;
  add_quantities(kernel, kTimes, out);
  add_quantities(kernel, kMemory, out);
  add_quantities(kernel, kOccupancy, out);
  if (auto limit = occupancy_limit(kernel)) out.push_back(std::move(*limit));
  add_quantities(kernel, kResources, out);
  return out;
}

std::vector<WarpStall> warp_stalls(const ProfileKernel& kernel) {
  for (const auto& family : kStallFamilies) {
    std::vector<WarpStall> out;
    double sum = 0;
    for (const auto& counter : kernel.counters) {
      const auto reason = stall_reason(counter.name, family);
      if (reason.empty()) continue;
      sum += counter.mean();
      if (reason == kSelected) continue;
      std::string words(reason);
      std::replace(words.begin(), words.end(), '_', ' ');
      out.push_back({std::move(words), waits_for(reason), &counter,
                     fmt::format("{:.3g} {}", counter.mean(), family.unit), counter.mean()});
    }
    if (out.empty()) continue;
    // Of all reasons, where only some of them were recorded.
    const auto* all = find_counter(kernel, kWarpLatency);
    if (all != nullptr && family.suffix.ends_with(".ratio")) sum = std::max(sum, all->mean());
    for (auto& stall : out) stall.share = sum > 0 ? stall.share / sum : 0;
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    return out;
  }
  return {};
}

}  // namespace ridgeline::report
