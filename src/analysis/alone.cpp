// SPDX-License-Identifier: Apache-2.0
#include "analysis/alone.hpp"

namespace ridgeline::analysis {

Alone alone_of(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  if (!run.verdict) return {};
  const auto measured = [&](const std::string& key) -> const schema::Measurement* {
    const auto found = outcomes.find(key);
    if (found == outcomes.end() || found->second.status != schema::TrialStatus::ok || !found->second.measurement)
      return nullptr;
    return &*found->second.measurement;
  };
  return {measured(run.verdict->alone_key), measured(run.verdict->alone_current_key)};
}

const schema::Measurement* alone_with(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                      const schema::Configuration& configuration) {
  const auto alone = alone_of(run, outcomes);
  if (alone.recommended != nullptr && configuration == run.verdict->configuration) return alone.recommended;
  return configuration == run.current ? alone.current : nullptr;
}

}  // namespace ridgeline::analysis
