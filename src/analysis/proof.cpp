// SPDX-License-Identifier: Apache-2.0
#include "analysis/proof.hpp"

#include "analysis/ranking.hpp"

namespace ridgeline::analysis {

bool changes_runtime(const schema::TuneRun& run, const schema::Configuration& configuration) {
  const auto id = schema::candidate_of(configuration);
  if (id == schema::candidate_of(run.current)) return false;
  const auto* candidate = schema::find_candidate(run.candidates, id);
  if (candidate == nullptr) return false;
  return candidate->engine != run.runtime.name || candidate->runtime.library_path != run.runtime.library_path ||
         candidate->plugin.has_value();
}

bool proves_change(const schema::TuneRun& run, const schema::Configuration& configuration,
                   const schema::Comparison& gain) {
  if (gain.verdict != schema::Verdict::faster) return false;
  return !changes_runtime(run, configuration) || gain.low >= 1 + run.request.min_effect;
}

bool is_undecided(const schema::TuneRun& run) {
  return run.verdict && run.verdict->decision == schema::Decision::keep &&
         (run.verdict->undecided || !tried_others(run) || undecided_finalist(run) != nullptr);
}

bool looks_slower(const schema::Comparison& comparison, double min_effect) noexcept {
  return comparison.ratio * (1 + min_effect) < 1;
}

}  // namespace ridgeline::analysis
