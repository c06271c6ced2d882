// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/candidate_comparisons.hpp"

#include "campaign/tune/pair_plan.hpp"

namespace ridgeline::campaign {

base::Result<void> CandidateComparisons::run() {
  for (const auto& defaults : budget_.candidates_to_compare()) {
    RL_TRY(context_.check_cancelled());
    const auto& current = result_.run.current;
    const auto plan = short_pair_plan(result_, request_.paired, current, defaults);
    if (budget_.expected_pair_s(plan, false, current, defaults) + budget_.expected_final_s() > budget_.plannable_s())
      continue;
    observer_.stage(fmt::format("{} against the current configuration, at its defaults, interleaved",
                                schema::candidate_of(defaults)));
    const auto measured = runner_.pair(schema::PairPurpose::candidate, current, defaults, "", plan);
    if (!measured && measured.error().code != base::ErrorCode::out_of_time) return tl::unexpected(measured.error());
  }
  return {};
}

}  // namespace ridgeline::campaign
