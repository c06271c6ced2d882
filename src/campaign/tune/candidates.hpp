// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// Fills TuneRun::candidates of a prepared run with all that its trials can run on beside what the user has now, which
/// is runtime `current` of RunContext::runtimes. What cannot be used is a note with the reason. Errors: those of
/// execute::runtime_candidates.
[[nodiscard]] base::Result<void> add_candidates(RunContext& context, std::size_t current);

/// Adds the code that loads the recommended configuration to the verdict, and runs it, where that is on another
/// candidate. `spec`: a
/// trial of it.
void add_code(RunContext& context, const schema::TrialSpec& spec);

}  // namespace ridgeline::campaign
