// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "schema/message.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// Whether the run has a trial whose loss is a finite number in the end.
[[nodiscard]] bool some_keep_their_loss(const schema::BenchRun& run);

/// The trials of a run whose loss is NaN or infinite in the end.
struct LostLosses {
  const schema::BenchTrial* first = nullptr;  ///< of the run
  std::optional<std::int64_t> step;  ///< earliest one, from 1 on, from which on a loss was lost; not known of all
  std::int64_t lost = 0;             ///< trials, 1 or more
  std::int64_t trained = 0;          ///< trials that train
  /// Which of the run's settings have it (one precision, from one batch size on, all of them); its hint: what to do.
  schema::Message where;
};
/// nullopt: there is no such trial.
[[nodiscard]] std::optional<LostLosses> lost_losses(const schema::BenchRun& run);

}  // namespace ridgeline::analysis
