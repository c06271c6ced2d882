// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_comparison_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"

namespace ridgeline::report {

std::vector<std::string> stream_comparison_lines(const analysis::StreamComparison& found) {
  std::vector<std::string> lines;
  lines.push_back(found.objective == "throughput"
                      ? "the ratio is that of throughput"
                      : fmt::format("the ratio is that of {} latency, as frames come at a pace of their own{}",
                                    found.objective, found.objective == "p99" ? "" : "; too few of them for p99"));
  const bool is_known =
      std::min(found.seconds_a, found.seconds_b) >= static_cast<std::int64_t>(analysis::kLeastSeconds);
  for (const auto& figure : found.figures) {
    const auto& ratio = figure.comparison;
    const char* unit = figure.name == "throughput" ? "FPS" : "ms";
    lines.push_back(fmt::format(
        "  {:<11}{:>9.2f} -> {:>9.2f} {:<4}{}", figure.name, figure.a.value, figure.b.value, unit,
        is_known && analysis::is_too_wide(ratio) ? fmt::format("{} for a ratio", analysis::kTooFewMeasurements)
        : is_known
            ? fmt::format("{:.3f} times as good, 95 % interval {:.3f} to {:.3f}", ratio.ratio, ratio.low, ratio.high)
            : ""));
  }
  const auto& drops = found.drops;
  lines.push_back(fmt::format(
      "  {:<11}{:>9.2f} -> {:>9.2f} %   {}", "dropped", 100 * drops.a, 100 * drops.b,
      drops.is_known ? fmt::format("by {:+.2f} points, 95 % interval {:+.2f} to {:+.2f}{}", 100 * (drops.b - drops.a),
                                   100 * drops.low, 100 * drops.high, drops.is_worse ? ": B drops more" : "")
                     : ""));
  lines.push_back(
      is_known ? fmt::format("latencies are means of each second's; intervals are by seconds ({} and {}, in batches "
                             "of consecutive ones) and what usually differs from run to run",
                             found.seconds_a, found.seconds_b)
               : fmt::format("{} and {} whole seconds after the first: {} of each are needed for an interval",
                             found.seconds_a, found.seconds_b, analysis::kLeastSeconds));
  return lines;
}

}  // namespace ridgeline::report
