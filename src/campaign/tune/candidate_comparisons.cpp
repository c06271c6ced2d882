// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/candidate_comparisons.hpp"

#include "campaign/tune/pair_plan.hpp"

namespace ridgeline::campaign {

base::Result<void> CandidateComparisons::run() {
  for (const auto& defaults : budget_.candidates_to_compare()) {
    RL_TRY(context_.check_cancelled());
    const auto& current = result_.run.current;
    const auto plan = short_pair_plan(result_, request_.paired, current, defaults);
    if (pairs_.expected_s(current, defaults, plan, false) + budget_.expected_final_s() > budget_.plannable_s())
      continue;
    observer_.stage(fmt::format("{} against the current configuration, at its defaults, interleaved",
                                schema::candidate_of(defaults)));
    const auto measured = pairs_.measure(schema::PairPurpose::candidate, current, defaults, "", plan);
    if (!measured && pairs_.was_cut(measured.error())) return {};
    RL_TRY(measured);
  }
  return {};
}

}  // namespace ridgeline::campaign
