// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "campaign/tune/run_context.hpp"
#include "execute/runtime_candidates.hpp"

namespace ridgeline::campaign {

/// Fills TuneRun::candidates of a prepared run with all that its trials can run on beside what the user has now, which
/// is runtime `current` of RunContext::runtimes. What cannot be used is a note with the reason. Errors: those of
/// execute::runtime_candidates.
[[nodiscard]] base::Result<void> add_candidates(RunContext& context, std::size_t current);

/// Adds the model as ONNX, by each exporter, with every runtime and provider that can take its place:
/// TuneRequest::also. What cannot be exported or used is a note with the reason. Errors: those of
/// execute::runtime_candidates.
[[nodiscard]] base::Result<void> add_exported_candidates(RunContext& context);

/// What a provider of a runtime that was found is to this run; nullopt: it cannot do what was asked for.
[[nodiscard]] std::optional<schema::Candidate> candidate_of(const RunContext& context,
                                                            const schema::FoundRuntime& where,
                                                            execute::UsableProvider usable);
/// Adds it under an id of its own: its name() and, from the second of that name on, "#2". Returns the id.
std::string add_candidate(RunContext& context, schema::Candidate candidate);

/// Adds the code that loads the recommended configuration to the verdict, and runs it, where that is on another
/// candidate. `spec`: a
/// trial of it.
void add_code(RunContext& context, const schema::TrialSpec& spec);

}  // namespace ridgeline::campaign
