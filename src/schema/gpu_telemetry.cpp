// SPDX-License-Identifier: Apache-2.0
#include "schema/gpu_telemetry.hpp"

#include <array>
#include <utility>

namespace ridgeline::schema {
namespace {

// nvmlClocksEventReason* of nvml.h that mean "slower than the card could".
constexpr std::array<std::pair<std::uint64_t, const char*>, 6> kReasons{{{0x4, "sw_power_cap"},
                                                                         {0x8, "hw_slowdown"},
                                                                         {0x10, "sync_boost"},
                                                                         {0x20, "sw_thermal_slowdown"},
                                                                         {0x40, "hw_thermal_slowdown"},
                                                                         {0x80, "hw_power_brake"}}};

/// Everything but the time line.
struct Summary : GpuTelemetry {};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Summary, uuid, timed_from_s, timed_to_s, sm_clock_mhz, sm_clock_min_mhz,
                                                throttle_ns, clock_reasons, busy, energy_j, energy_mj_per_item,
                                                memory_free_before_bytes, memory_free_after_bytes, process_peak_bytes,
                                                device_used_before_bytes, device_used_idle_bytes, device_peak_bytes,
                                                process_memory_note, neighbours_before, neighbours_after, kept_s,
                                                discarded_s, discarded_rounds)

/// Calls `visit(key, member)` for each column of the time line.
template <typename Visit>
void for_each_column(Visit visit) {
  visit("at_s", &GpuSample::at_s);
  visit("sm_clock_mhz", &GpuSample::sm_clock_mhz);
  visit("memory_clock_mhz", &GpuSample::memory_clock_mhz);
  visit("temperature_c", &GpuSample::temperature_c);
  visit("power_w", &GpuSample::power_w);
  visit("utilization_percent", &GpuSample::utilization_percent);
  visit("memory_used_bytes", &GpuSample::memory_used_bytes);
  visit("process_memory_bytes", &GpuSample::process_memory_bytes);
  visit("clock_reasons", &GpuSample::clock_reasons);
}

}  // namespace

std::vector<std::string> clock_reason_names(std::uint64_t bits) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons)
    if ((bits & bit) != 0) names.emplace_back(name);
  return names;
}

void to_json(base::Json& out, const GpuTelemetry& telemetry) {
  Summary summary;
  static_cast<GpuTelemetry&>(summary) = telemetry;
  to_json(out, summary);
  auto& columns = out["samples"] = base::Json::object();
  for_each_column([&](const char* key, auto member) {
    auto& column = columns[key] = base::Json::array();
    for (const auto& sample : telemetry.samples) column.push_back(sample.*member);
  });
}

void from_json(const base::Json& in, GpuTelemetry& telemetry) {
  Summary summary;
  from_json(in, summary);
  telemetry = std::move(summary);
  telemetry.samples.clear();
  const auto columns = in.find("samples");
  if (columns == in.end()) return;
  telemetry.samples.resize(columns->at("at_s").size());
  for_each_column([&](const char* key, auto member) {
    const auto column = columns->find(key);
    if (column == columns->end()) return;
    for (std::size_t i = 0; i < telemetry.samples.size(); ++i) column->at(i).get_to(telemetry.samples[i].*member);
  });
}

RL_DEFINE_JSON(GpuNeighbour, pid, memory_bytes)

}  // namespace ridgeline::schema
