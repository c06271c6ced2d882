// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What was measured in a process of its own (schema::TrialSpec::isolated); nullptr: it was not, or failed.
struct Isolated {
  const schema::Measurement* recommended = nullptr;
  const schema::Measurement* current = nullptr;
};

[[nodiscard]] Isolated isolated_of(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// The one of them that had this configuration; nullptr: none had.
[[nodiscard]] const schema::Measurement* isolated_with(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                                       const schema::Configuration& configuration);

}  // namespace ridgeline::analysis
