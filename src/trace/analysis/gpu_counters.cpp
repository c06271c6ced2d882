// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/gpu_counters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "schema/gpu_telemetry.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

bool is_throttled(const GpuSample& sample) {
  return sample.reasons > 0 && !schema::clock_reason_names(static_cast<std::uint64_t>(sample.reasons)).empty();
}

struct Figure {
  const char* name;
  const char* unit;
  std::int64_t (*value)(const GpuSample&);  ///< -1: not known
};
constexpr std::array kFigures{
    Figure{"SM clock", "MHz", [](const GpuSample& one) { return std::int64_t{one.sm_mhz}; }},
    Figure{"memory clock", "MHz", [](const GpuSample& one) { return std::int64_t{one.memory_mhz}; }},
    Figure{"power", "mW", [](const GpuSample& one) { return std::int64_t{one.power_mw}; }},
    Figure{"temperature", "°C", [](const GpuSample& one) { return std::int64_t{one.temperature_c}; }},
    Figure{"throttling", "throttled",
           [](const GpuSample& one) { return one.reasons < 0 ? std::int64_t{-1} : std::int64_t{is_throttled(one)}; }},
};

/// What the steps last, from the first to the last; the whole recording where there are none.
TimeSpan judged_time(const AnalysedTrace& analysed) {
  TimeSpan out;
  if (!analysed.steps.steps.empty()) {
    out = {analysed.steps.steps.front().start_ns, analysed.steps.steps.front().end_ns};
    for (const auto& step : analysed.steps.steps) out.end_ns = std::max(out.end_ns, step.end_ns);
  } else if (!analysed.observed.empty()) {
    out = {analysed.observed.begin()->second.start_ns, analysed.observed.begin()->second.end_ns};
    for (const auto& [gpu, time] : analysed.observed) {
      out.start_ns = std::min(out.start_ns, time.start_ns);
      out.end_ns = std::max(out.end_ns, time.end_ns);
    }
  }
  return out;
}

struct Throttling {
  std::int64_t samples = 0;
  std::int64_t throttled = 0;
  std::uint64_t reasons = 0;
  std::int32_t least_mhz = -1;
  std::int32_t most_mhz = -1;
};

}  // namespace

std::vector<GpuCounter> gpu_counters(const Trace& trace) {
  std::map<std::int32_t, std::vector<const GpuSample*>> gpus;
  for (const auto& sample : trace.gpu_samples) gpus[sample.device].push_back(&sample);
  std::vector<GpuCounter> out;
  for (const auto& [device, samples] : gpus)
    for (const auto& figure : kFigures) {
      GpuCounter counter{fmt::format("GPU {} {}", device, figure.name), figure.unit, {}};
      for (const auto* sample : samples)
        if (const auto value = figure.value(*sample); value >= 0) counter.values.emplace_back(sample->time_ns, value);
      if (!counter.values.empty()) out.push_back(std::move(counter));
    }
  return out;
}

std::vector<schema::Message> throttle_notes(const AnalysedTrace& analysed) {
  const auto judged = judged_time(analysed);
  std::map<std::int32_t, Throttling> gpus;
  for (const auto& sample : analysed.trace.gpu_samples) {
    if (sample.reasons < 0 || sample.time_ns < judged.start_ns || sample.time_ns > judged.end_ns) continue;
    auto& gpu = gpus[sample.device];
    ++gpu.samples;
    if (sample.sm_mhz >= 0) {
      gpu.least_mhz = gpu.least_mhz < 0 ? sample.sm_mhz : std::min(gpu.least_mhz, sample.sm_mhz);
      gpu.most_mhz = std::max(gpu.most_mhz, sample.sm_mhz);
    }
    if (!is_throttled(sample)) continue;
    ++gpu.throttled;
    gpu.reasons |= static_cast<std::uint64_t>(sample.reasons);
  }
  std::vector<schema::Message> out;
  for (const auto& [device, gpu] : gpus) {
    if (gpu.throttled == 0) continue;
    const bool has_clocks = gpu.most_mhz >= 0;
    out.push_back(messages::recorded_while_throttled(
        {.gpu = std::to_string(device),
         .share = static_cast<double>(gpu.throttled) / static_cast<double>(gpu.samples),
         .steps = !analysed.steps.steps.empty(),
         .reasons = schema::clock_reason_names(gpu.reasons),
         .low = has_clocks ? std::optional(double(gpu.least_mhz)) : std::nullopt,
         .high = double(gpu.most_mhz)}));
  }
  return out;
}

}  // namespace ridgeline::trace
