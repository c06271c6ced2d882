// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_comparison_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {

std::vector<std::string> stream_comparison_lines(const schema::MessageRenderer& words,
                                                 const analysis::StreamComparison& found) {
  std::vector<std::string> lines;
  using enum messages::StreamRatioOfObjective;
  lines.push_back(
      words.text(messages::stream_ratio_of({.objective = found.objective == "throughput" ? throughput : latency,
                                            .percentile = found.objective,
                                            .few = found.objective != "p99"})));
  const bool is_known =
      std::min(found.seconds_a, found.seconds_b) >= static_cast<std::int64_t>(analysis::kLeastSeconds);
  for (const auto& figure : found.figures) {
    const auto& ratio = figure.comparison;
    const char* unit = figure.name == "throughput" ? "FPS" : "ms";
    messages::StreamTimes times{.low = ratio.low, .high = ratio.high};
    if (!analysis::is_too_wide(ratio)) times.times = ratio.ratio;
    lines.push_back(fmt::format("  {:<11}{:>9.2f} -> {:>9.2f} {:<4}{}", figure.name, figure.a.value, figure.b.value,
                                unit, is_known ? words.text(messages::stream_times(times)) : ""));
  }
  const auto& drops = found.drops;
  const messages::StreamDrops by{.difference = 100 * (drops.b - drops.a),
                                 .low = 100 * drops.low,
                                 .high = 100 * drops.high,
                                 .worse = drops.is_worse};
  lines.push_back(fmt::format("  {:<11}{:>9.2f} -> {:>9.2f} %   {}", "dropped", 100 * drops.a, 100 * drops.b,
                              drops.is_known ? words.text(messages::stream_drops(by)) : ""));
  messages::StreamIntervals seconds{.a = found.seconds_a, .b = found.seconds_b};
  if (!is_known) seconds.least = analysis::kLeastSeconds;
  lines.push_back(words.text(messages::stream_intervals(seconds)));
  return lines;
}

}  // namespace ridgeline::report
