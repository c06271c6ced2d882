// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// All ok trials of a run under one pair of settings and data mode.
struct BenchEvidence {
  double rate = 0;  ///< samples/s, mean
  int count = 0;
  std::vector<int> trials;
  schema::TrainingResources resources;  ///< of the last
  schema::PhaseSummary phases;          ///< of the last
};

/// nullopt where no such trial went well.
[[nodiscard]] std::optional<BenchEvidence> find_evidence(const schema::BenchRun& run,
                                                         const schema::TrainingSettings& settings,
                                                         schema::DataMode data);

}  // namespace ridgeline::analysis
