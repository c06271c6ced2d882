// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "run/registry.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// One side of a comparison: a run's recommended trial, or the one named by "RUN/TRIAL".
struct ComparedTrial {
  schema::TuneRun run;
  schema::TunedTrial trial;
  schema::TrialOutcome outcome;
  [[nodiscard]] std::string name() const { return fmt::format("{}/{}", run.id, trial.id); }
};

/// `reference` is "RUN" or "RUN/TRIAL"; RUN may be a prefix or "latest". A run without a verdict gives its best trial.
/// Errors: not_found, invalid_argument (the trial did not run to the end).
[[nodiscard]] base::Result<ComparedTrial> find_compared(store::Store& store, const std::string& reference);

/// The same of a trial that was found.
[[nodiscard]] base::Result<ComparedTrial> compared_trial(store::Store& store, const run::TrialName& name);

/// B against A by separate measurements. Errors (invalid_argument): different models, shapes or objectives.
[[nodiscard]] base::Result<schema::Comparison> compare_runs(const ComparedTrial& a, const ComparedTrial& b,
                                                            double min_effect);

}  // namespace ridgeline::campaign
