// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/training_run.hpp"

/// Settings with one thing changed: what the experiments try and the diagnosis looks for has to be the same.
namespace ridgeline::analysis {

[[nodiscard]] inline schema::TrainingSettings with_workers(schema::TrainingSettings settings, int workers) {
  settings.workers = workers;
  return settings;
}
[[nodiscard]] inline schema::TrainingSettings with_batch(schema::TrainingSettings settings, std::int64_t batch) {
  settings.batch = batch;
  return settings;
}
[[nodiscard]] inline schema::TrainingSettings with_pin(schema::TrainingSettings settings) {
  settings.pin_memory = true;
  return settings;
}
[[nodiscard]] inline schema::TrainingSettings with_amp(schema::TrainingSettings settings) {
  settings.amp = schema::AmpMode::bf16;
  return settings;
}

}  // namespace ridgeline::analysis
