// SPDX-License-Identifier: Apache-2.0
// A tail far above the median: interference, not work.
#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {

std::vector<Finding> spikes_rule(const Evidence& evidence) {
  constexpr double kSpiky = 2;
  if (evidence.chosen == nullptr || evidence.uneven) return {};
  const auto& summary = evidence.chosen->summary;
  const bool has_p99 = summary.p99_ns.has_value();
  const auto tail = has_p99 ? summary.p99_ns : summary.p95_ns;
  if (!tail || *tail < kSpiky * summary.median_ns) return {};
  const auto* name = has_p99 ? "p99" : "p95";
  return {{FindingKind::limit,
           fmt::format("Latency has spikes: {} is {:.1f} times the median (trial {})", name, *tail / summary.median_ns,
                       evidence.chosen->trial->id),
           fmt::format("median {}, {} {}, maximum {} over {} inferences", base::format_duration(summary.median_ns),
                       name, base::format_duration(*tail), base::format_duration(summary.max_ns), summary.count),
           "Look for other processes on these CPUs; when the tail matters tune with --objective p99"}};
}

}  // namespace ridgeline::analysis
