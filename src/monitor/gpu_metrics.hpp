// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// How a number of GpuReading leaves the program; JSON, CSV and Prometheus all follow this one table.
struct GpuMetric {
  const char* key;  ///< in JSON and CSV, unit included
  std::optional<double> GpuReading::*member;
  bool whole;            ///< written without decimals
  const char* exported;  ///< Prometheus name after "ridgeline_gpu_"
  double scale;          ///< to Prometheus' base unit
  bool counter;          ///< only grows
  const char* help;
};

inline constexpr std::array kGpuMetrics{
    GpuMetric{"utilization_percent", &GpuReading::utilization_percent, false, "utilization_ratio", 0.01, false,
              "Share of the time with at least one kernel running."},
    GpuMetric{"memory_busy_percent", &GpuReading::memory_busy_percent, false, "memory_busy_ratio", 0.01, false,
              "Share of the time with memory traffic."},
    GpuMetric{"encoder_percent", &GpuReading::encoder_percent, false, "encoder_ratio", 0.01, false,
              "Share of the time that the video encoder was busy."},
    GpuMetric{"decoder_percent", &GpuReading::decoder_percent, false, "decoder_ratio", 0.01, false,
              "Share of the time that the video decoder was busy."},
    GpuMetric{"sm_percent", &GpuReading::sm_percent, false, "sm_active_ratio", 0.01, false,
              "Share of the multiprocessors with work, averaged since the sample before."},
    GpuMetric{"occupancy_percent", &GpuReading::occupancy_percent, false, "sm_occupancy_ratio", 0.01, false,
              "Resident warps as a share of the most possible."},
    GpuMetric{"tensor_percent", &GpuReading::tensor_percent, false, "tensor_active_ratio", 0.01, false,
              "Share of the time that tensor cores were busy."},
    GpuMetric{"dram_percent", &GpuReading::dram_percent, false, "dram_bandwidth_ratio", 0.01, false,
              "Memory bandwidth used, as a share of the highest."},
    GpuMetric{"dram_bytes_per_s", &GpuReading::dram_bytes_per_s, true, "dram_bytes_per_second", 1, false,
              "Memory bandwidth used: the share of the highest times that."},
    GpuMetric{"memory_used_bytes", &GpuReading::memory_used_bytes, true, "memory_used_bytes", 1, false,
              "Memory in use, the driver's reserve included."},
    GpuMetric{"memory_total_bytes", &GpuReading::memory_total_bytes, true, "memory_size_bytes", 1, false,
              "Memory of the GPU."},
    GpuMetric{"sm_clock_mhz", &GpuReading::sm_clock_mhz, true, "sm_clock_hertz", 1e6, false,
              "Clock of the multiprocessors."},
    GpuMetric{"max_sm_clock_mhz", &GpuReading::max_sm_clock_mhz, true, "sm_clock_max_hertz", 1e6, false,
              "Highest clock of the multiprocessors."},
    GpuMetric{"memory_clock_mhz", &GpuReading::memory_clock_mhz, true, "memory_clock_hertz", 1e6, false,
              "Clock of the memory."},
    GpuMetric{"temperature_c", &GpuReading::temperature_c, true, "temperature_celsius", 1, false,
              "Temperature of the GPU."},
    GpuMetric{"memory_temperature_c", &GpuReading::memory_temperature_c, true, "memory_temperature_celsius", 1, false,
              "Temperature of the memory."},
    GpuMetric{"slowdown_temperature_c", &GpuReading::slowdown_temperature_c, true, "slowdown_temperature_celsius", 1,
              false, "Temperature at which the hardware slows down."},
    GpuMetric{"fan_percent", &GpuReading::fan_percent, true, "fan_ratio", 0.01, false, "Fan speed asked for."},
    GpuMetric{"power_w", &GpuReading::power_w, false, "power_watts", 1, false,
              "Power, averaged over about one second by the driver."},
    GpuMetric{"power_instant_w", &GpuReading::power_instant_w, false, "power_instant_watts", 1, false,
              "Power at this moment."},
    GpuMetric{"power_limit_w", &GpuReading::power_limit_w, false, "power_limit_watts", 1, false,
              "Power limit in force."},
    GpuMetric{"energy_total_j", &GpuReading::energy_total_j, false, "energy_joules_total", 1, true,
              "Energy since the driver was loaded, read every fifteen seconds."},
    GpuMetric{"energy_since_start_j", &GpuReading::energy_since_start_j, false, nullptr, 1, true,
              "Energy since the monitor began."},
    GpuMetric{"pcie_sent_bytes_per_s", &GpuReading::pcie_sent_bytes_per_s, true, "pcie_sent_bytes_per_second", 1, false,
              "Sent by the GPU over PCIe."},
    GpuMetric{"pcie_received_bytes_per_s", &GpuReading::pcie_received_bytes_per_s, true,
              "pcie_received_bytes_per_second", 1, false, "Received by the GPU over PCIe."},
    GpuMetric{"nvlink_sent_bytes_per_s", &GpuReading::nvlink_sent_bytes_per_s, true, "nvlink_sent_bytes_per_second", 1,
              false, "Sent by the GPU over all NVLinks."},
    GpuMetric{"nvlink_received_bytes_per_s", &GpuReading::nvlink_received_bytes_per_s, true,
              "nvlink_received_bytes_per_second", 1, false, "Received by the GPU over all NVLinks."},
    GpuMetric{"pcie_generation", &GpuReading::pcie_generation, true, "pcie_generation", 1, false,
              "PCIe generation now; an idle GPU lowers it."},
    GpuMetric{"max_pcie_generation", &GpuReading::max_pcie_generation, true, "pcie_max_generation", 1, false,
              "PCIe generation that GPU and slot can do."},
    GpuMetric{"pcie_width", &GpuReading::pcie_width, true, "pcie_lanes", 1, false, "PCIe lanes now."},
    GpuMetric{"max_pcie_width", &GpuReading::max_pcie_width, true, "pcie_max_lanes", 1, false,
              "PCIe lanes that GPU and slot can do."},
    GpuMetric{"nvlink_links_active", &GpuReading::nvlink_links_active, true, "nvlink_links_active", 1, false,
              "NVLinks that are up."},
    GpuMetric{"nvlink_links_present", &GpuReading::nvlink_links_present, true, "nvlink_links_present", 1, false,
              "NVLinks that the GPU has."},
    GpuMetric{"performance_state", &GpuReading::performance_state, true, "performance_state", 1, false,
              "Performance state, 0 the fastest."}};

/// "power limit" for "sw_power_cap", in brief "power": causes of a slow-down as people say them.
[[nodiscard]] const char* slowdown_label(const std::string& cause, bool brief = false) noexcept;

}  // namespace ridgeline::monitor
