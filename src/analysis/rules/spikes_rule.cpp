// SPDX-License-Identifier: Apache-2.0
// A tail far above the median: interference, not work.
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {

std::vector<Finding> spikes_rule(const Evidence& evidence) {
  constexpr double kSpiky = 2;
  if (evidence.chosen == nullptr || evidence.uneven) return {};
  const auto& summary = evidence.chosen->summary;
  const bool has_p99 = summary.p99_ns.has_value();
  const auto tail = has_p99 ? summary.p99_ns : summary.p95_ns;
  if (!tail || *tail < kSpiky * summary.median_ns) return {};
  const auto* name = has_p99 ? "p99" : "p95";
  return {
      {FindingKind::limit,
       messages::spikes({.percentile = name, .times = *tail / summary.median_ns, .trial = evidence.chosen->trial->id}),
       messages::spikes_evidence({.median = summary.median_ns,
                                  .percentile = name,
                                  .tail = *tail,
                                  .highest = summary.max_ns,
                                  .inferences = static_cast<std::int64_t>(summary.count)}),
       messages::look_for_others()}};
}

}  // namespace ridgeline::analysis
