// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// Why a run does not accept the outputs of a trial that ran, by the user's metric, else by their cosine
/// similarity, else by the tolerance, as its AccuracyGate says; outputs that change from call to call by their
/// distribution. nullopt: it accepts them, or they were not compared.
[[nodiscard]] std::optional<schema::Message> accuracy_fault(const schema::TuneRun& run,
                                                            const schema::TrialOutcome& outcome);

/// "TF32: differs by 3.1e-03 from FP32", of outputs that are accepted because the trial ran in TF32; nullopt: others.
[[nodiscard]] std::optional<schema::Message> tf32_note(const schema::TuneRun& run, const schema::TrialOutcome& outcome);

}  // namespace ridgeline::analysis
