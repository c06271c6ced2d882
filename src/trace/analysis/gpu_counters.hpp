// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/message.hpp"
#include "trace/analysis/analysed_trace.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// One of the figures of Trace::gpu_samples over time, of one GPU.
struct GpuCounter {
  std::string name;  ///< "GPU 0 SM clock"
  std::string unit;  ///< "MHz", "mW", "°C"; of throttling, which is 0 or 1, "throttled"
  std::vector<std::pair<std::int64_t, std::int64_t>> values;  ///< time (ns) and value, in order of time
};

/// Those that are known, by GPU.
[[nodiscard]] std::vector<GpuCounter> gpu_counters(const Trace& trace);

/// A line for each GPU whose clocks were throttled during the recorded steps, or, in a trace without steps, during the
/// recording: how often, why, and at which clocks.
[[nodiscard]] std::vector<schema::Message> throttle_notes(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
