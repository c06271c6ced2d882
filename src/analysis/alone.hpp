// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What was measured in a process of its own (schema::TrialSpec::alone); nullptr: it was not, or failed.
struct Alone {
  const schema::Measurement* recommended = nullptr;
  const schema::Measurement* current = nullptr;
};

[[nodiscard]] Alone alone_of(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// The one of them that had this configuration; nullptr: none had.
[[nodiscard]] const schema::Measurement* alone_with(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                                    const schema::Configuration& configuration);

}  // namespace ridgeline::analysis
