// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::schema {

/// A number that a trial yields: its unit and direction live here and nowhere else. The key ends in the unit.
struct MetricDef {
  std::string key;
  std::string title;
  std::string unit;
  bool higher_is_better = false;
};

/// latency_median_ms, latency_mean_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms,
/// throughput_per_s, session_create_ms, first_run_ms, peak_rss_mb; on a GPU gpu_memory_gb, gpu_energy_mj_per_item.
[[nodiscard]] const std::vector<MetricDef>& metrics();

/// nullptr when there is none of that key.
[[nodiscard]] const MetricDef* find_metric(std::string_view key);
/// The same by what people call it: its key without "latency_", without the unit, or without both ("p99", "throughput",
/// "peak_rss"); "latency" is the median.
[[nodiscard]] const MetricDef* find_metric_called(std::string_view name);

}  // namespace ridgeline::schema
