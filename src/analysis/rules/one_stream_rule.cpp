// SPDX-License-Identifier: Apache-2.0
// What the recommended settings gain as the only session of a process.
#include "analysis/isolated.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {

std::vector<Finding> one_stream_rule(const Evidence& evidence) {
  const auto isolated = isolated_of(evidence.run, evidence.outcomes);
  if (isolated.recommended == nullptr || evidence.chosen == nullptr) return {};
  const double isolated_ns = summarize(*isolated.recommended).median_ns;
  const double beside_ns = evidence.chosen->summary.median_ns;
  if (isolated_ns <= 0 || isolated_ns > beside_ns * (1 - evidence.run.request.min_effect)) return {};
  return {{FindingKind::gain, messages::one_stream({.time = isolated_ns, .share = 1 - isolated_ns / beside_ns}),
           messages::one_stream_evidence({.time = isolated_ns,
                                          .beside = beside_ns,
                                          .trial = evidence.chosen->trial->id,
                                          .current = isolated.current != nullptr
                                                         ? std::optional(summarize(*isolated.current).median_ns)
                                                         : std::nullopt}),
           messages::use_one_stream()}};
}

}  // namespace ridgeline::analysis
