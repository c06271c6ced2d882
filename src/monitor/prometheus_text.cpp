// SPDX-License-Identifier: Apache-2.0
#include "monitor/prometheus_text.hpp"

#include <utility>
#include <vector>

#include "base/version.hpp"
#include "monitor/gpu_metrics.hpp"
#include "monitor/metric_family.hpp"

namespace ridgeline::monitor {
namespace {

using Labels = MetricLabels;
using Family = MetricFamily;

Labels labels_of(const GpuReading& gpu) { return {{"gpu", std::to_string(gpu.index)}, {"uuid", gpu.uuid}}; }

Labels with(Labels labels, const char* name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

void write_gpus(std::string& out, const Snapshot& snapshot) {
  {
    Family info(out, "ridgeline_gpu_info", "gauge", "What GPU this is; always 1.");
    for (const auto& gpu : snapshot.gpus)
      info.add(with(with(with(labels_of(gpu), "name", gpu.name), "pci_bus_id", gpu.pci_bus_id), "driver_version",
                    snapshot.driver_version),
               1);
  }
  {
    Family state(out, "ridgeline_gpu_state", "gauge", "1 for the state that the GPU is in, 0 for the others.");
    for (const auto& gpu : snapshot.gpus)
      for (const auto& [value, name] : base::EnumNames<GpuState>::names)
        state.add(with(labels_of(gpu), "state", name), gpu.state == value ? 1 : 0);
  }
  for (const auto& metric : kGpuMetrics) {
    if (metric.exported == nullptr) continue;
    Family family(out, fmt::format("ridgeline_gpu_{}", metric.exported), metric.counter ? "counter" : "gauge",
                  metric.help);
    for (const auto& gpu : snapshot.gpus) {
      const auto& value = gpu.*metric.member;
      family.add(labels_of(gpu), value ? std::optional(*value * metric.scale) : std::nullopt);
    }
  }
  {
    Family times(out, "ridgeline_gpu_slowdown_seconds_total", "counter",
                 "Time for which clocks were throttled since the driver was loaded, by cause.");
    for (const auto& gpu : snapshot.gpus)
      for (const auto& [cause, seconds] : gpu.slowdown_total_s)
        times.add(with(labels_of(gpu), "cause", cause), seconds);
  }
  Family now(out, "ridgeline_gpu_slowdown_active", "gauge", "1 for each reason that throttles the clocks now.");
  for (const auto& gpu : snapshot.gpus)
    for (const auto& reason : gpu.slowdown_reasons) now.add(with(labels_of(gpu), "cause", reason), 1);
}

using SliceMember = std::optional<double> SliceReading::*;

void write_slices(std::string& out, const Snapshot& snapshot, const char* name, SliceMember member, double scale,
                  const char* help) {
  Family family(out, name, "gauge", help);
  for (const auto& gpu : snapshot.gpus)
    for (const auto& slice : gpu.slices)
      if (const auto& value = slice.*member)
        family.add(with(with(labels_of(gpu), "slice", slice.uuid), "name", slice.name), *value * scale);
}

void write_processes(std::string& out, const Snapshot& snapshot) {
  const auto labels = [](const ProcessReading& process) {
    return Labels{{"gpu", std::to_string(process.gpu)},
                  {"pid", std::to_string(process.pid)},
                  {"name", process.name},
                  {"user", process.user},
                  {"container", process.container}};
  };
  {
    Family memory(out, "ridgeline_gpu_process_memory_bytes", "gauge", "GPU memory of a process.");
    for (const auto& process : snapshot.processes) memory.add(labels(process), process.gpu_memory_bytes);
  }
  Family share(out, "ridgeline_gpu_process_sm_ratio", "gauge",
               "Share of the multiprocessors' time that a process had.");
  for (const auto& process : snapshot.processes)
    if (process.sm_percent) share.add(labels(process), *process.sm_percent / 100);
}

void write_host(std::string& out, const HostReading& host) {
  Family(out, "ridgeline_host_cpus", "gauge", "CPUs of the machine.").add({}, host.cpus);
  if (host.cpu_percent)
    Family(out, "ridgeline_host_cpu_ratio", "gauge", "Share of all CPUs in use.").add({}, *host.cpu_percent / 100);
  Family(out, "ridgeline_host_load1", "gauge", "Load average of one minute.").add({}, host.load_1m);
  Family(out, "ridgeline_host_memory_size_bytes", "gauge", "Memory of the machine.").add({}, host.memory_total_bytes);
  Family(out, "ridgeline_host_memory_used_bytes", "gauge", "Memory that is not available to new programs.")
      .add({}, host.memory_used_bytes);
}

}  // namespace

std::string prometheus_text(const Snapshot& snapshot) {
  std::string out;
  Family(out, "ridgeline_build_info", "gauge", "Version of Ridgeline; always 1.")
      .add({{"version", std::string(base::version())}}, 1);
  Family(out, "ridgeline_monitor_gpus", "gauge", "GPUs that are watched.")
      .add({}, static_cast<double>(snapshot.gpus.size()));
  write_gpus(out, snapshot);
  write_slices(out, snapshot, "ridgeline_gpu_slice_memory_used_bytes", &SliceReading::memory_used_bytes, 1,
               "Memory in use of a MIG slice.");
  write_slices(out, snapshot, "ridgeline_gpu_slice_sm_active_ratio", &SliceReading::sm_percent, 0.01,
               "Share of a MIG slice's multiprocessors with work.");
  write_processes(out, snapshot);
  write_host(out, snapshot.host);
  return out;
}

}  // namespace ridgeline::monitor
