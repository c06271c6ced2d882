// SPDX-License-Identifier: Apache-2.0
// More runnable threads than CPUs.
#include <algorithm>
#include <cmath>

#include "analysis/comparison.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"

namespace ridgeline::analysis {
namespace {

/// Threads a configuration keeps busy; 0 threads a session means one a physical core, whatever a container's quota
/// says.
double busy_threads(const schema::Configuration& configuration, const schema::Environment& environment) {
  auto threads = configuration.get_or("intra_op_num_threads", 0).as_integer();
  if (threads == 0) threads = environment.physical_cores;
  return static_cast<double>(threads * configuration.get_or("parallel_sessions", 1).as_integer(1));
}

}  // namespace

std::vector<Finding> oversubscription_rule(const Evidence& evidence) {
  const auto& environment = evidence.run.environment;
  const double usable = environment.usable_cpus;
  const auto& provider = schema::provider_of(evidence.run.provider);
  if (!provider.on_cpu() || provider.own_threads || usable <= 0 || evidence.chosen == nullptr) return {};
  std::vector<Finding> findings;
  const double current = busy_threads(evidence.run.current, environment);
  if (current > usable + 0.5)
    findings.push_back({FindingKind::limit, messages::too_many_threads({.threads = current, .usable = usable}),
                        messages::too_many_threads_by({.configuration = evidence.run.current.to_text(),
                                                       .cores = environment.physical_cores,
                                                       .quota = environment.cgroup_cpu_quota}),
                        messages::limit_threads(static_cast<std::int64_t>(std::max(1.0, std::floor(usable))))});
  if (evidence.uneven) return findings;
  std::vector<int> slower;
  const RankedTrial* worst = nullptr;
  for (const auto& ranked : evidence.ranking) {
    if (busy_threads(ranked.trial->configuration, environment) <= usable + 0.5) continue;
    if (judge(evidence.chosen->cost.value / ranked.cost.value,
              evidence.chosen->cost.interval.low / ranked.cost.interval.high,
              evidence.chosen->cost.interval.high / ranked.cost.interval.low,
              evidence.run.request.min_effect) != schema::Verdict::slower)
      continue;
    slower.push_back(ranked.trial->id);
    if (worst == nullptr || ranked.cost.value > worst->cost.value) worst = &ranked;
  }
  if (worst != nullptr)
    findings.push_back(
        {FindingKind::harmful,
         messages::more_threads_slower({.effect = effect_of(evidence.chosen->cost.value / worst->cost.value),
                                        .trial = evidence.chosen->trial->id}),
         messages::more_threads_in({.trials = slower,
                                    .usable = usable,
                                    .configuration = worst->trial->configuration.to_text(),
                                    .trial = worst->trial->id}),
         {}});
  return findings;
}

}  // namespace ridgeline::analysis
