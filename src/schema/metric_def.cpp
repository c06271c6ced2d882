// SPDX-License-Identifier: Apache-2.0
#include "schema/metric_def.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::schema {

const std::vector<MetricDef>& metrics() {
  static const std::vector<MetricDef> rows{
      {"latency_median_ms", "Median latency", "ms", false},
      {"latency_mean_ms", "Mean latency", "ms", false},
      {"latency_p50_ms", "50th percentile latency", "ms", false},
      {"latency_p90_ms", "90th percentile latency", "ms", false},
      {"latency_p95_ms", "95th percentile latency", "ms", false},
      {"latency_p99_ms", "99th percentile latency", "ms", false},
      {"throughput_per_s", "Throughput", "items/s", true},
      {"session_create_ms", "Session creation", "ms", false},
      {"first_run_ms", "First inference", "ms", false},
      {"compile_s", "Compiling and capturing", "s", false},
      {"peak_rss_mb", "Peak memory of the worker", "MB", false},
      {"gpu_memory_gb", "Peak GPU memory of the worker", "GB", false},
      {"gpu_weights_gb", "GPU memory of the weights", "GB", false},
      {"gpu_arena_gb", "Peak GPU memory in the runtime's arena", "GB", false},
      {"gpu_energy_mj_per_item", "GPU energy per item", "mJ", false},
  };
  return rows;
}

const MetricDef* find_metric(std::string_view key) {
  for (const auto& row : metrics())
    if (row.key == key) return &row;
  return nullptr;
}

const MetricDef* find_metric_called(std::string_view name) {
  if (const auto* exact = find_metric(name)) return exact;
  constexpr std::string_view kLatency = "latency_";
  constexpr std::array<std::string_view, 6> kUnits{"_mj_per_item", "_per_s", "_ms", "_mb", "_gb", "_s"};
  if (name == "latency") return find_metric("latency_median_ms");
  for (const auto& row : metrics()) {
    std::string_view key = row.key;
    const auto without = [&](std::string_view text) {
      return text.rfind(kLatency, 0) == 0 ? text.substr(kLatency.size()) : text;
    };
    if (name == without(key)) return &row;
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](auto one) { return key.ends_with(one); });
    if (unit == kUnits.end()) continue;
    key.remove_suffix(unit->size());
    if (name == key || name == without(key)) return &row;
  }
  return nullptr;
}

}  // namespace ridgeline::schema
