// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/clock_reasons.hpp"
#include "doctor/checks/per_gpu.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

constexpr double kEnoughClock = 0.9;  // of the highest; a card at its power limit keeps above that in so short a load
constexpr double kEnoughBandwidth = 0.5;  // of what the link carries; virtual machines lose a third

/// GB/s in one direction that a link carries at most: transfers a second, less the line code (PCI-SIG base
/// specifications 1 to 5: 8b/10b, then 128b/130b; generation 6 in FLITs of 236 data bytes in 256).
double link_gb_per_s(int generation, int width) {
  constexpr std::array<double, 6> kLaneGbPerS{0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation < 1 || generation > static_cast<int>(kLaneGbPerS.size())) return 0;
  return kLaneGbPerS[static_cast<std::size_t>(generation) - 1] * width;
}

GpuVerdict not_loaded(const GpuFacts& gpu) {
  if (!gpu.load) return {skipped, "not tried (--no-load)", {}, {}};
  return {skipped, "no load could be made: " + gpu.load->error, {}, {}};
}

GpuVerdict pcie(const GpuFacts& gpu) {
  if (!gpu.load || !gpu.load->error.empty()) return not_loaded(gpu);
  const auto generation = gpu.load->pcie_generation;
  const auto width = gpu.load->pcie_width;
  if (!generation || !width || !gpu.pcie.max_generation || !gpu.pcie.max_width)
    return {skipped, "the link cannot be read", {}, {}};
  auto evidence = fmt::format("generation {} x{}", *generation, *width);
  const auto copies = gpu.load->reached.h2d_gb_per_s;
  if (copies) evidence += fmt::format(", {:.1f} GB/s to the GPU", *copies);
  if (*width < *gpu.pcie.max_width)
    return {
        warn,
        fmt::format("{}, but x{} is possible: copies take {:.2g} times as long", evidence, *gpu.pcie.max_width,
                    static_cast<double>(*gpu.pcie.max_width) / *width),
        "seat the card anew, check riser and cable, and look for slot sharing (bifurcation) in the firmware's setup",
        {"sudo lspci -vv | grep -E 'LnkCap|LnkSta'"}};
  if (*generation < *gpu.pcie.max_generation)
    return {warn,
            fmt::format("{}, but generation {} is possible", evidence, *gpu.pcie.max_generation),
            "check the slot's generation in the firmware's setup, riser and cable",
            {"sudo lspci -vv | grep -E 'LnkCap|LnkSta'"}};
  const double possible = link_gb_per_s(*generation, *width);
  if (copies && possible > 0 && *copies < kEnoughBandwidth * possible)
    return {warn,
            fmt::format("{} of {:.0f} possible", evidence, possible),
            "look for other traffic on the link, a virtual machine without huge pages, or a process bound to the far "
            "NUMA node",
            {"nvidia-smi topo -m"}};
  return {ok, evidence, {}, {}};
}

GpuVerdict clocks(const GpuFacts& gpu) {
  if (!gpu.load || !gpu.load->error.empty()) return not_loaded(gpu);
  const auto reached = gpu.load->sm_clock_mhz;
  const auto most = gpu.gpu.max_sm_clock_mhz;
  if (!reached || !most || *most <= 0) return {skipped, "clocks cannot be read", {}, {}};
  const auto names = schema::clock_reason_names(gpu.load->clock_reasons);
  auto evidence = fmt::format("{:.0f} of {:.0f} MHz", *reached, *most);
  if (!names.empty()) evidence += fmt::format(", throttled by {}", fmt::join(names, ", "));
  if (gpu.load->temperature_c) evidence += fmt::format(", {:.0f} C", *gpu.load->temperature_c);
  auto fix = fix_of_reasons(gpu.load->clock_reasons);
  const bool slow = *reached < kEnoughClock * *most;
  if (slow && fix.empty())
    fix = (gpu.load->clock_reasons & 0x4U) != 0
              ? "the power limit holds it: see Power limit"
              : "a clock may be locked: take the lock away (administrator), unless it is there on purpose";
  if (!slow && fix.empty()) return {ok, evidence, {}, {}};
  const auto number = gpu.gpu.index.value_or(0);
  return {warn,
          evidence,
          fix,
          {fmt::format("nvidia-smi -q -d CLOCK,PERFORMANCE -i {}", number),
           fmt::format("sudo nvidia-smi -rgc -i {}   # undoes a locked clock", number)}};
}

}  // namespace

std::vector<Check> check_gpu_load(const Facts& facts) {
  return {check_each_gpu("pcie", "PCIe under load", facts, pcie),
          check_each_gpu("clocks", "Clocks under load", facts, clocks)};
}

}  // namespace ridgeline::doctor
