// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/snapshot.hpp"

namespace ridgeline::fakes {

inline monitor::GpuReading busy_gpu(int index = 0) {
  monitor::GpuReading gpu;
  gpu.index = index;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-fake-" + std::to_string(index);
  gpu.pci_bus_id = "00000000:01:00.0";
  gpu.utilization_percent = 87;
  gpu.memory_busy_percent = 33;
  gpu.sm_percent = 72.5;
  gpu.occupancy_percent = 14;
  gpu.tensor_percent = 55;
  gpu.dram_percent = 30;
  gpu.dram_bytes_per_s = 1.475e12;
  gpu.memory_used_bytes = 60.0 * 1073741824;
  gpu.memory_total_bytes = 140.0 * 1073741824;
  gpu.sm_clock_mhz = 1935;
  gpu.max_sm_clock_mhz = 1980;
  gpu.memory_clock_mhz = 3201;
  gpu.temperature_c = 61;
  gpu.memory_temperature_c = 52;
  gpu.slowdown_temperature_c = 89;
  gpu.power_w = 482.25;
  gpu.power_limit_w = 700;
  gpu.energy_total_j = 5e6;
  gpu.energy_since_start_j = 12345;
  gpu.pcie_sent_bytes_per_s = 8e8;
  gpu.pcie_received_bytes_per_s = 1.62e9;
  gpu.pcie_generation = 5;
  gpu.max_pcie_generation = 5;
  gpu.pcie_width = 16;
  gpu.max_pcie_width = 16;
  gpu.performance_state = 0;
  gpu.slowdown_since_start_s = {{"sw_power_cap", 0.0}, {"sw_thermal_slowdown", 0.0}};
  gpu.slowdown_total_s = {{"sw_power_cap", 100.0}, {"sw_thermal_slowdown", 0.0}};
  return gpu;
}

inline monitor::ProcessReading gpu_process(std::int64_t pid, const std::string& user, const std::string& command,
                                           double gib, double sm, double cpu, int gpu = 0) {
  monitor::ProcessReading process;
  process.pid = pid;
  process.gpu = gpu;
  process.kind = "compute";
  process.name = command.substr(0, command.find(' '));
  process.command = command;
  process.user = user;
  process.gpu_memory_bytes = gib * 1073741824;
  process.sm_percent = sm;
  process.cpu_percent = cpu;
  process.host_memory_bytes = 2.0 * 1073741824;
  return process;
}

/// One busy GPU with three processes.
inline monitor::Snapshot busy_machine() {
  monitor::Snapshot snapshot;
  snapshot.time_utc = "2026-11-21T12:00:00Z";
  snapshot.since_start_s = 754;
  snapshot.interval_s = 1;
  snapshot.driver_version = "580.65.06";
  snapshot.host = {64, 34, 3.2, 128.0 * 1073741824, 12.3 * 1073741824, {}, {}, {}};
  snapshot.gpus = {busy_gpu()};
  snapshot.processes = {gpu_process(4711, "ada", "python train.py --epochs 90", 40, 60, 210),
                        gpu_process(815, "bob", "/usr/bin/tritonserver --model-store /models", 12, 10, 35),
                        gpu_process(42, "root", "nvidia-persistenced", 0.1, 0, 0)};
  snapshot.processes[1].container = "docker:0123456789ab";
  return snapshot;
}

}  // namespace ridgeline::fakes
