// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "campaign/tune/compare_runs.hpp"
#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// The result of a stored run, as `show` reads it.
inline base::Result<TuneResult> load_stored(store::Store& store, const std::string& run_id) {
  RL_TRY_ASSIGN(const auto stored, store.load_run(run_id, schema::TuneRun::kLayout.kind));
  return complete_result(store, stored);
}

/// A side of a comparison by its name, "RUN" or "RUN/TRIAL".
inline base::Result<ComparedTrial> compared(store::Store& store, const std::string& reference) {
  RL_TRY_ASSIGN(const auto name, run::find_trial(store, reference));
  return compared_trial(store, name);
}

}  // namespace ridgeline::campaign
