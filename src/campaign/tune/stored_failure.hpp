// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "base/error.hpp"
#include "schema/environment.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// Whether a stored trial without a measurement would end so again, as far as it is known: what the configuration is to
/// blame for does, what died or hung need not. Memory that ran out on a GPU does unless notably more of it is free in
/// `environment` than the trial had, or that is not known.
[[nodiscard]] bool fails_again(const store::StoredTrial& stored, const schema::Environment& environment);

/// Keys of the trials of the run that `run` goes on with: the latest that was asked the same of the same model, on
/// the same device, if it was interrupted.
[[nodiscard]] base::Result<std::set<std::string>> trials_of_interrupted(store::Store& store,
                                                                        const schema::TuneRun& run);

}  // namespace ridgeline::campaign
