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

/// The trial of a name that was found; of a run alone its recommended trial, without a verdict its best. Errors:
/// invalid_argument (the trial did not run to the end).
[[nodiscard]] base::Result<ComparedTrial> compared_trial(store::Store& store, const run::TrialName& name);

/// B against A by separate measurements. Errors (invalid_argument): different models, shapes or objectives.
[[nodiscard]] base::Result<schema::Comparison> compare_runs(const ComparedTrial& a, const ComparedTrial& b,
                                                            double min_effect);

}  // namespace ridgeline::campaign
