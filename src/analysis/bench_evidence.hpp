// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// All ok trials of a run under one pair of settings and data mode.
struct BenchEvidence {
  double rate = 0;  ///< samples/s, median of the trials
  double low = 0;   ///< 95 % interval: of two trials from the lower to the higher end, of more the medians of the ends
  double high = 0;
  double spread = 0;  ///< of the trials' rates: the highest over the lowest, less 1
  int count = 0;
  std::vector<int> trials;
  schema::TrainingResources resources;  ///< of the trial whose rate is nearest
  schema::PhaseSummary phases;          ///< of the same
};

/// nullopt where no such trial went well.
[[nodiscard]] std::optional<BenchEvidence> find_evidence(const schema::BenchRun& run,
                                                         const schema::TrainingSettings& settings,
                                                         schema::DataMode data);

/// Whether `other` is faster by that share at least, and by more than noise: their intervals do not meet.
[[nodiscard]] bool clearly_faster(const BenchEvidence& other, const BenchEvidence& than, double share) noexcept;

}  // namespace ridgeline::analysis
