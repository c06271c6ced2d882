// SPDX-License-Identifier: Apache-2.0
// What the monitor's calls of NVML cost on the first GPU: wall and CPU time of a call, of NVML's own start and end, and
// the memory that NVML takes; and how GPM's values scatter with the time between two looks.
//   nvml_calls [CALLS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "gpu/gpm_reader.hpp"
#include "gpu/nvml_device.hpp"
#include "gpu/nvml_live.hpp"
#include "monitor/gpu_probe.hpp"
#include "monitor/resident_pages.hpp"

namespace {

using namespace ridgeline;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void print_memory(const char* after) {
  std::ifstream status("/proc/self/status");
  std::string line;
  std::string text;
  while (std::getline(status, line))
    for (const auto* name : {"VmRSS", "RssAnon", "RssFile", "RssShmem"})
      if (line.rfind(name, 0) == 0) {
        std::replace(line.begin(), line.end(), '\t', ' ');
        text += line + "; ";
      }
  std::printf("after %-28s %s\n", after, text.c_str());
}

void print_cost(const char* name, int calls, const std::function<void()>& call) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i < calls; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // as far apart as a monitor's calls
    const double wall_before = seconds(CLOCK_MONOTONIC);
    const double cpu_before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    call();
    cpu.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_before);
    wall.push_back(seconds(CLOCK_MONOTONIC) - wall_before);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  std::printf("%-28s wall %8.0f us (longest %8.0f), CPU %8.0f us\n", name, wall[wall.size() / 2] * 1e6,
              wall.back() * 1e6, cpu[cpu.size() / 2] * 1e6);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of a process that asks once and ends.
void print_start() {
  std::vector<double> load;
  std::vector<double> open;
  std::vector<double> first;
  std::vector<double> end;
  for (int i = 0; i < 5; ++i) {
    const double begun = seconds(CLOCK_MONOTONIC);
    auto api = gpu::NvmlApi::load();
    const double loaded = seconds(CLOCK_MONOTONIC);
    if (!api) return;
    const auto handle = (*api)->device_by_index(0);
    const double opened = seconds(CLOCK_MONOTONIC);
    if (!handle) return;
    {
      monitor::GpuProbe probe(*api, *handle, 0, false);
      (void)probe.read(base::system_clock().now());
      (void)probe.processes(base::system_clock().now());
    }
    const double read = seconds(CLOCK_MONOTONIC);
    api->reset();
    load.push_back(loaded - begun);
    open.push_back(opened - loaded);
    first.push_back(read - opened);
    end.push_back(seconds(CLOCK_MONOTONIC) - read);
  }
  std::printf("NVML: load %.1f ms, open the GPU %.1f ms, facts and first look %.1f ms, end %.1f ms (medians of 5)\n",
              median(load) * 1e3, median(open) * 1e3, median(first) * 1e3, median(end) * 1e3);
}

/// Utilization of the SMs and traffic of the memory over ever shorter spans; the load should be steady.
void print_gpm_spread(gpu::GpmReader& gpm) {
  for (const int gap : {10, 20, 30, 40, 60, 100, 300}) {
    std::vector<double> sm;
    std::vector<double> dram;
    int without = 0;
    (void)gpm.read();
    for (int i = 0; i < 30; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(gap));
      const auto reading = gpm.read();
      if (!reading || !reading->sm_percent || !reading->dram_percent || !reading->pcie_sent_per_s) {
        ++without;
        continue;
      }
      sm.push_back(*reading->sm_percent);
      dram.push_back(*reading->dram_percent);
    }
    if (sm.empty()) sm = dram = {0};
    std::sort(sm.begin(), sm.end());
    std::sort(dram.begin(), dram.end());
    std::printf("GPM over %3d ms: SM %6.2f %% [%.2f, %.2f], DRAM %6.2f %% [%.2f, %.2f], %d of 30 without a value\n",
                gap, sm[sm.size() / 2], sm.front(), sm.back(), dram[dram.size() / 2], dram.front(), dram.back(),
                without);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  // In a process of its own, as what NVML leaves behind would count below.
  if (const auto child = ::fork(); child == 0) {
    print_cost("NVML from start to end", 3, [] { (void)gpu::NvmlApi::load(); });
    print_start();
    std::fflush(stdout);
    ::_exit(0);
  } else if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
  print_memory("start");
  const auto api = gpu::NvmlApi::load();
  if (!api) {
    std::fprintf(stderr, "%s\n", api.error().message.c_str());
    return 1;
  }
  print_memory("loading NVML");
  const auto handle = (*api)->device_by_index(0);
  if (!handle) {
    std::fprintf(stderr, "%s\n", handle.error().message.c_str());
    return 1;
  }
  print_memory("opening the GPU");
  const gpu::NvmlDevice device(*api, *handle);
  const gpu::NvmlLive live(*api, *handle);
  auto gpm = gpu::GpmReader::open(*api, *handle);
  print_memory("opening GPM");
  std::printf("%-28s wall and CPU, medians of %d calls\n", "", calls);
  print_cost("temperature", calls, [&] { (void)device.temperature_c(); });
  print_cost("utilization", calls, [&] { (void)device.utilization_percent(); });
  print_cost("memory", calls, [&] { (void)device.memory(); });
  print_cost("SM clock", calls, [&] { (void)device.clock_mhz(gpu::nvml::kSmClock); });
  print_cost("power", calls, [&] { (void)device.power_w(); });
  print_cost("clock reasons", calls, [&] { (void)device.clock_reasons(); });
  print_cost("encoder, decoder", calls, [&] { (void)live.encoder_percent(), (void)live.decoder_percent(); });
  print_cost("fan", calls, [&] { (void)live.fan_percent(); });
  print_cost("performance state", calls, [&] { (void)live.performance_state(); });
  print_cost("fields", calls, [&] { (void)live.fields({false, false}); });
  print_cost("fields and traffic", calls, [&] { (void)live.fields({false, true}); });
  print_cost("fields and slowdowns", calls, [&] { (void)live.fields({true, false}); });
  print_cost("all fields", calls, [&] { (void)live.fields(); });
  print_memory("fields");
  if (gpm) print_cost("GPM", calls, [&] { (void)gpm->read(); });
  print_memory("GPM");
  if (gpm) print_gpm_spread(*gpm);
  print_cost("PCIe link", calls, [&] { (void)live.pcie_link(); });
  print_cost("NVLink links", calls, [&] { (void)live.nvlink_links(); });
  print_cost("energy", calls, [&] { (void)device.energy_mj(); });
  print_cost("looking for MIG slices", calls, [&] { (void)live.mig_slices(); });
  print_cost("processes", calls, [&] { (void)live.processes(); });
  print_cost("shares of processes", calls, [&] { (void)live.process_shares(0); });
  monitor::GpuProbe probe(*api, *handle, 0, false);
  print_cost("all of one look", calls, [&] { (void)probe.read(base::system_clock().now()); });
  print_memory("all");
  monitor::release_zero_pages();
  print_memory("giving back zeros");
  monitor::release_start_up_pages();
  print_memory("giving back code");
  return 0;
}
