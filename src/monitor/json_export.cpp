// SPDX-License-Identifier: Apache-2.0
#include "monitor/json_export.hpp"

#include <cmath>

#include "monitor/gpu_metrics.hpp"

namespace ridgeline::monitor {
namespace {

using base::Json;

Json number(const std::optional<double>& value, bool whole) {
  if (!value || !std::isfinite(*value)) return nullptr;
  if (whole) return static_cast<std::int64_t>(std::llround(*value));
  return std::round(*value * 1e3) / 1e3;  // nothing here is known better
}

Json times_of(const std::map<std::string, double>& times) {
  Json out = Json::object();
  for (const auto& [cause, seconds] : times) out[cause] = number(seconds, false);
  return out;
}

Json json_of(const SliceReading& slice) {
  return {{"name", slice.name},
          {"uuid", slice.uuid},
          {"memory_used_bytes", number(slice.memory_used_bytes, true)},
          {"memory_total_bytes", number(slice.memory_total_bytes, true)},
          {"sm_percent", number(slice.sm_percent, false)},
          {"tensor_percent", number(slice.tensor_percent, false)},
          {"dram_percent", number(slice.dram_percent, false)}};
}

Json json_of(const GpuReading& gpu) {
  Json out = {{"index", gpu.index},
              {"name", gpu.name},
              {"uuid", gpu.uuid},
              {"pci_bus_id", gpu.pci_bus_id},
              {"state", gpu.state},
              {"note", gpu.note},
              {"slowdown_reasons", gpu.slowdown_reasons},
              {"slowdown_since_start_s", times_of(gpu.slowdown_since_start_s)},
              {"slowdown_total_s", times_of(gpu.slowdown_total_s)}};
  for (const auto& metric : kGpuMetrics) out[metric.key] = number(gpu.*metric.member, metric.whole);
  auto& slices = out["mig_slices"] = Json::array();
  for (const auto& slice : gpu.slices) slices.push_back(json_of(slice));
  return out;
}

Json json_of(const ProcessReading& process) {
  return {{"pid", process.pid},
          {"gpu", process.gpu},
          {"kind", process.kind},
          {"name", process.name},
          {"command", process.command},
          {"user", process.user},
          {"container", process.container},
          {"gpu_memory_bytes", number(process.gpu_memory_bytes, true)},
          {"sm_percent", number(process.sm_percent, false)},
          {"cpu_percent", number(process.cpu_percent, false)},
          {"host_memory_bytes", number(process.host_memory_bytes, true)}};
}

Json json_of(const HostReading& host) {
  return {{"cpus", host.cpus},
          {"cpu_percent", number(host.cpu_percent, false)},
          {"load_1m", number(host.load_1m, false)},
          {"memory_total_bytes", number(host.memory_total_bytes, true)},
          {"memory_used_bytes", number(host.memory_used_bytes, true)},
          {"cgroup_cpus", number(host.cgroup_cpus, false)},
          {"cgroup_memory_limit_bytes", number(host.cgroup_memory_limit_bytes, true)},
          {"cgroup_memory_used_bytes", number(host.cgroup_memory_used_bytes, true)}};
}

}  // namespace

Json json_of(const Snapshot& snapshot, const ProcessOrder& order) {
  Json out = {{"time_utc", snapshot.time_utc},
              {"since_start_s", number(snapshot.since_start_s, false)},
              {"interval_s", number(snapshot.interval_s, false)},
              {"driver_version", snapshot.driver_version},
              {"host", json_of(snapshot.host)},
              {"notes", snapshot.notes}};
  auto& gpus = out["gpus"] = Json::array();
  for (const auto& gpu : snapshot.gpus) gpus.push_back(json_of(gpu));
  auto& processes = out["processes"] = Json::array();
  for (const auto* process : ordered(snapshot.processes, order)) processes.push_back(json_of(*process));
  return out;
}

}  // namespace ridgeline::monitor
