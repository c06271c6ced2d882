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
  bool lost_loss = false;               ///< the loss of a trial is NaN or infinite in the end
};

/// nullopt where no such trial went well.
[[nodiscard]] std::optional<BenchEvidence> find_evidence(const schema::BenchRun& run,
                                                         const schema::TrainingSettings& settings,
                                                         schema::DataMode data);

/// Whether `other` is faster by that share at least, and by more than noise: their intervals do not meet.
[[nodiscard]] bool clearly_faster(const BenchEvidence& other, const BenchEvidence& than, double share) noexcept;

/// What a step's threads did, by trials with data in memory or on the device.
struct StepShare {
  double thread = 0;  ///< share of the time, standing in line for a CPU left out, that the training thread computed
  double others = 0;  ///< CPUs that the process's other threads used
  /// Whether the step mostly waits: neither its thread nor another one computes.
  [[nodiscard]] bool waits() const noexcept;
  /// Whether the training thread itself is busy.
  [[nodiscard]] bool computes() const noexcept;
};
/// nullopt where the way of training does not count it.
[[nodiscard]] std::optional<StepShare> step_share(const BenchEvidence& stepping) noexcept;

}  // namespace ridgeline::analysis
