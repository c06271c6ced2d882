// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/pair_schedule.hpp"

namespace ridgeline::campaign {

/// Other candidates at their defaults meet the current configuration in turns, shortly: separate trials of two runtimes
/// differ by what the machine did in between, and the table of candidates is read as a comparison.
class CandidateComparisons : private RunPart {
 public:
  /// Both must outlive this.
  CandidateComparisons(RunContext& context, PairSchedule& pairs) : RunPart(context), pairs_(pairs) {}

  /// Those that were not compared yet, as time allows. Errors: those of PairSchedule::measure.
  [[nodiscard]] base::Result<void> run();

 private:
  PairSchedule& pairs_;
};

}  // namespace ridgeline::campaign
