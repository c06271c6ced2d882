// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "doctor/checks/checks.hpp"
#include "doctor/checks/clock_reasons.hpp"
#include "doctor/checks/per_gpu.hpp"
#include "doctor/messages.hpp"

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
  return {skipped, gpu.load ? messages::load_failed(gpu.load->error) : messages::no_load(), {}, {}};
}

GpuVerdict pcie(const GpuFacts& gpu) {
  if (!gpu.load || !gpu.load->error.empty()) return not_loaded(gpu);
  const auto generation = gpu.load->pcie_generation;
  const auto width = gpu.load->pcie_width;
  if (!generation || !width || !gpu.pcie.max_generation || !gpu.pcie.max_width)
    return {skipped, messages::link_unreadable(), {}, {}};
  const auto copies = gpu.load->reached.h2d_gb_per_s;
  messages::Pcie seen{.generation = *generation, .width = *width, .rate = copies};
  if (*width < *gpu.pcie.max_width) {
    seen.widest = *gpu.pcie.max_width;
    seen.times = static_cast<double>(*gpu.pcie.max_width) / *width;
    return {warn, messages::pcie(seen), messages::fix_pcie_width(), {"sudo lspci -vv | grep -E 'LnkCap|LnkSta'"}};
  }
  if (*generation < *gpu.pcie.max_generation) {
    seen.newest = *gpu.pcie.max_generation;
    return {warn, messages::pcie(seen), messages::fix_pcie_generation(), {"sudo lspci -vv | grep -E 'LnkCap|LnkSta'"}};
  }
  const double possible = link_gb_per_s(*generation, *width);
  if (copies && possible > 0 && *copies < kEnoughBandwidth * possible) {
    seen.possible = possible;
    return {warn, messages::pcie(seen), messages::fix_pcie_rate(), {"nvidia-smi topo -m"}};
  }
  return {ok, messages::pcie(seen), {}, {}};
}

GpuVerdict clocks(const GpuFacts& gpu) {
  if (!gpu.load || !gpu.load->error.empty()) return not_loaded(gpu);
  const auto reached = gpu.load->sm_clock_mhz;
  const auto most = gpu.gpu.max_sm_clock_mhz;
  if (!reached || !most || *most <= 0) return {skipped, messages::clocks_unreadable(), {}, {}};
  const auto evidence = messages::clocks({.reached = *reached,
                                          .most = *most,
                                          .reasons = schema::clock_reason_names(gpu.load->clock_reasons),
                                          .temperature = gpu.load->temperature_c});
  auto fix = fix_of_reasons(gpu.load->clock_reasons);
  const bool slow = *reached < kEnoughClock * *most;
  if (slow && fix.empty())
    fix = (gpu.load->clock_reasons & 0x4U) != 0 ? messages::fix_power_limited() : messages::fix_locked_clock();
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
  return {check_each_gpu("pcie", messages::title_pcie(), facts, pcie),
          check_each_gpu("clocks", messages::title_clocks(), facts, clocks)};
}

}  // namespace ridgeline::doctor
