// SPDX-License-Identifier: Apache-2.0
// What the recommended settings gain as the only session of a process.
#include <fmt/format.h>

#include "analysis/isolated.hpp"
#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {

std::vector<Finding> one_stream_rule(const Evidence& evidence) {
  const auto isolated = isolated_of(evidence.run, evidence.outcomes);
  if (isolated.recommended == nullptr || evidence.chosen == nullptr) return {};
  const double isolated_ns = summarize(*isolated.recommended).median_ns;
  const double beside_ns = evidence.chosen->summary.median_ns;
  if (isolated_ns <= 0 || isolated_ns > beside_ns * (1 - evidence.run.min_effect)) return {};
  return {
      {FindingKind::gain,
       fmt::format("In a process with one session and one CUDA stream the recommended settings take {}, {:.0f} % less",
                   base::format_duration(isolated_ns), 100 * (1 - isolated_ns / beside_ns)),
       fmt::format("median {} against {} of trial {}{}: all trials and comparisons are measured as in a process that "
                   "works on several streams, where each kernel begins a little later",
                   base::format_duration(isolated_ns), base::format_duration(beside_ns), evidence.chosen->trial->id,
                   isolated.current == nullptr
                       ? ""
                       : fmt::format(", and {} of the current settings in such a process",
                                     base::format_duration(summarize(*isolated.current).median_ns))),
       "Run the process's other GPU work, other models too, on the session's stream (user_compute_stream) or "
       "a process of its own"}};
}

}  // namespace ridgeline::analysis
