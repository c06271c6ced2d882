// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "campaign/tune/pair_schedule.hpp"

namespace ridgeline::campaign {

/// The answer of a run whose current configuration did not run to the end, so that nothing can be compared with it.
class CurrentReplacement : private RunPart {
 public:
  /// Both must outlive this.
  CurrentReplacement(RunContext& context, PairSchedule& pairs) : RunPart(context), pairs_(pairs) {}

  /// Sets run.verdict: to change to what is nearest to the current configuration of all that runs and meets the
  /// constraints, or to a faster one that is shown to be so beside that. Decision none where the current configuration
  /// was not tried at all, or no setting is to blame. `ranking` is not empty, and its first meets the constraints.
  /// Errors: those of PairSchedule::measure.
  [[nodiscard]] base::Result<void> decide(const std::vector<analysis::RankedTrial>& ranking);

 private:
  [[nodiscard]] const analysis::RankedTrial* nearest(const std::vector<analysis::RankedTrial>& ranking) const;
  /// Of the fastest against the nearest; nullopt: there is no time for it, or they are one.
  [[nodiscard]] base::Result<std::optional<schema::Comparison>> compare(const analysis::RankedTrial& near,
                                                                        const analysis::RankedTrial& fast);

  PairSchedule& pairs_;
};

}  // namespace ridgeline::campaign
