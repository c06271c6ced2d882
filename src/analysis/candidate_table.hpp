// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analysis/ranking.hpp"
#include "schema/message.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// One candidate of a run as it was tried first: at its defaults, or with a CUDA graph where that usually wins.
struct CandidateRow {
  schema::Candidate candidate;                          ///< id "" for what the user has now
  const schema::TunedTrial* trial = nullptr;            ///< nullptr: none was made
  const schema::TrialOutcome* outcome = nullptr;        ///< of it
  std::optional<schema::Comparison> against_current{};  ///< of the defaults of what the user has now; above 1: faster
  std::size_t trials = 0;                               ///< of the candidate, all its settings together
  schema::Message
      left{};  ///< why the search left it: "2.31 times the leader's time after 1 of its configurations"; or ""
};

/// What the user has now first, then the others, the fastest first and what did not run last. Refers to its arguments.
/// Ratios are of interleaved comparisons where there is one of the two, otherwise of separate trials. Empty: nothing
/// but what the user has was tried.
[[nodiscard]] std::vector<CandidateRow> candidate_table(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// What the configuration runs on, also where it is what the user has now.
[[nodiscard]] schema::Candidate candidate_in(const schema::TuneRun& run, const schema::Configuration& configuration);
/// Of config.yaml, where its settings belong: the name of its engine.
[[nodiscard]] std::string config_section(const schema::TuneRun& run, const schema::Configuration& configuration);

}  // namespace ridgeline::analysis
