// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/trial_runner.hpp"

namespace ridgeline::campaign {

/// Other candidates at their defaults meet the current configuration in turns, shortly: separate trials of two runtimes
/// differ by what the machine did in between, and the table of candidates is read as a comparison.
class CandidateComparisons : private RunPart {
 public:
  /// Both must outlive this.
  CandidateComparisons(RunContext& context, TrialRunner& runner) : RunPart(context), runner_(runner) {}

  /// Those that were not compared yet, the fastest first, as time allows. Errors: those of TrialRunner::pair.
  [[nodiscard]] base::Result<void> run();

 private:
  TrialRunner& runner_;
};

}  // namespace ridgeline::campaign
