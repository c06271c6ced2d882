// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/trial_outcome.hpp"

namespace ridgeline::analysis {

/// What a trial that ran out of memory found on its GPU: "9.50 GiB of 140 GiB were free before; process 4711 held
/// 119 GiB", then the messages of its flags; empty where nothing is known, or for another status.
[[nodiscard]] schema::Message memory_found(const schema::TrialOutcome& outcome);

/// Whether it ran out of memory while others held so much of the GPU that it might run without them.
[[nodiscard]] bool memory_was_taken(const schema::TrialOutcome& outcome);

}  // namespace ridgeline::analysis
