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

/// Copies the exported model that the recommendation runs, or else the first that ran, to TuneRequest::save_onnx, where
/// that is set; from then on the run names that file. A note says what came of it.
void save_exported(RunContext& context);

/// What a provider of a runtime that was found is to this run; nullopt: it cannot do what was asked for.
[[nodiscard]] std::optional<schema::Candidate> candidate_of(const RunContext& context,
                                                            const schema::FoundRuntime& where,
                                                            execute::UsableProvider usable);
/// Adds it under an id of its own: its name() and, from the second of that name on, "#2". Returns the id.
std::string add_candidate(RunContext& context, schema::Candidate candidate);

/// Adds the code that loads the verdict's configuration to it. Where that runs on another candidate, or is a PyTorch
/// model that changes, the code is run as well; of settings alone the trials have said what they do. `spec`: a trial of
/// it; `current`: of the current configuration.
void add_code(RunContext& context, const schema::TrialSpec& spec, const schema::TrialSpec& current);

}  // namespace ridgeline::campaign
