// SPDX-License-Identifier: Apache-2.0
#include "analysis/isolated.hpp"

namespace ridgeline::analysis {

Isolated isolated_of(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  if (!run.verdict) return {};
  const auto measured = [&](const std::string& key) -> const schema::Measurement* {
    const auto found = outcomes.find(key);
    if (found == outcomes.end() || found->second.status != schema::TrialStatus::ok || !found->second.measurement)
      return nullptr;
    return &*found->second.measurement;
  };
  return {measured(run.verdict->isolated_key), measured(run.verdict->isolated_current_key)};
}

const schema::Measurement* isolated_with(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                         const schema::Configuration& configuration) {
  const auto isolated = isolated_of(run, outcomes);
  if (isolated.recommended != nullptr && configuration == run.verdict->configuration) return isolated.recommended;
  return configuration == run.current ? isolated.current : nullptr;
}

}  // namespace ridgeline::analysis
