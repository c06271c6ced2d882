// SPDX-License-Identifier: Apache-2.0
// What about the machine makes these numbers less trustworthy than they look.
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {

std::vector<Finding> machine_rule(const Evidence& evidence) {
  constexpr double kBusyShare = 0.25;
  const auto& environment = evidence.run.environment;
  std::vector<Finding> findings;
  // The load average counts the whole machine, so it is compared with all of its CPUs rather than our share.
  if (environment.load_average && environment.logical_cpus > 0 &&
      *environment.load_average > kBusyShare * environment.logical_cpus)
    findings.push_back({FindingKind::quality, messages::machine_was_busy(),
                        messages::load_at_start({.load = *environment.load_average, .cpus = environment.logical_cpus}),
                        messages::repeat_when_idle(), true});
  if (environment.governor && *environment.governor != "performance" && !evidence.run.on_gpu())
    findings.push_back({FindingKind::quality, messages::governor(*environment.governor), messages::clock_may_be_lower(),
                        messages::set_governor()});
  if (environment.cgroup_cpu_quota && *environment.cgroup_cpu_quota < static_cast<double>(environment.affinity.size()))
    findings.push_back({FindingKind::quality, messages::quota(*environment.cgroup_cpu_quota),
                        messages::quota_evidence(static_cast<std::int64_t>(environment.affinity.size())),
                        messages::keep_below_quota()});
  return findings;
}

}  // namespace ridgeline::analysis
