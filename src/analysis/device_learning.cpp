// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_learning.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/comparison.hpp"
#include "stats/round_estimate.hpp"
#include "stats/shrinkage.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Configuration;

/// Costs of the trials that the run measured on its own device, in full.
std::map<Configuration, double> own_costs(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  std::map<Configuration, double> costs;
  for (const auto& ranked : rank(run, outcomes))
    if (!ranked.trial->cached && !is_stopped_early(ranked) && device_of(run, *ranked.trial) == run.device &&
        ranked.cost.value > 0)
      costs.emplace(ranked.trial->configuration, ranked.cost.value);
  return costs;
}

}  // namespace

schema::DeviceLearning learned_from(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                    const PairsByKey& pairs) {
  schema::DeviceLearning learned;
  for (const auto& pair : run.pairs) {
    const auto outcome = pairs.find(pair.key);
    if (pair.cached || outcome == pairs.end() || !outcome->second.measurement) continue;
    if (const auto scatter = session_scatter(*outcome->second.measurement, run.request.objective))
      learned.add({.session_variance = scatter->variance, .session_freedom = scatter->freedom});
  }
  const auto costs = own_costs(run, outcomes);
  for (const auto& [configuration, cost] : costs)
    for (const auto& [key, value] : configuration.values()) {
      auto without = configuration;
      without.unset(key);
      if (const auto plain = costs.find(without); plain != costs.end())
        learned.add({.effects = {{key, {std::abs(std::log(cost / plain->second)), 1}}}});
    }
  // Trials of one run are of one model: together they say as much of another as one run does.
  for (auto& [key, effect] : learned.effects) effect.runs = 1;
  return learned;
}

double session_stdev(const schema::DeviceLearning& learned) {
  constexpr double kLeast = 1e-4;  // 0 would say that nothing is known
  if (learned.session_freedom <= 0) return kGpuSessionStdev;
  const double variance = stats::shrunk(kGpuSessionStdev * kGpuSessionStdev, stats::kSessionFreedom,
                                        learned.session_variance, learned.session_freedom);
  return std::max(kLeast, std::sqrt(std::max(0.0, variance)));
}

double session_reach(const schema::DeviceLearning& learned) {
  // Sessions of one configuration differed by up to twice the usual on an H200, one standard deviation
  // (benchmarks/results/h200/exhaustive.md).
  constexpr double kSessionSpreads = 4;
  return kSessionSpreads * session_stdev(learned);
}

}  // namespace ridgeline::analysis
