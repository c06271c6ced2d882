// SPDX-License-Identifier: Apache-2.0
// What about the machine makes these numbers less trustworthy than they look.
#include <fmt/format.h>

#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {

std::vector<Finding> machine_rule(const Evidence& evidence) {
  constexpr double kBusyShare = 0.25;
  const auto& environment = evidence.run.environment;
  std::vector<Finding> findings;
  // The load average counts the whole machine, so it is compared with all of its CPUs rather than our share.
  if (environment.load_average && environment.logical_cpus > 0 &&
      *environment.load_average > kBusyShare * environment.logical_cpus)
    findings.push_back(
        {FindingKind::quality, "The machine was busy when the run started",
         fmt::format("load average {:.1f} on {} CPUs", *environment.load_average, environment.logical_cpus),
         "Repeat when it is idle before you rely on small differences", true});
  if (environment.governor && *environment.governor != "performance" && !evidence.run.on_gpu())
    findings.push_back({FindingKind::quality,
                        fmt::format("CPU clocks follow the load: governor {}", *environment.governor),
                        "short or light trials can run at a lower clock than the service will",
                        "For steadier numbers: cpupower frequency-set -g performance"});
  if (environment.cgroup_cpu_quota && *environment.cgroup_cpu_quota < static_cast<double>(environment.affinity.size()))
    findings.push_back(
        {FindingKind::quality,
         fmt::format("A container quota of {:g} CPUs throttles the process", *environment.cgroup_cpu_quota),
         fmt::format("{} CPUs are visible; once the quota of a period is used up every thread waits for the next",
                     environment.affinity.size()),
         "Keep the thread count at or below the quota; expect spikes of a period (often 100 ms) above it"});
  return findings;
}

}  // namespace ridgeline::analysis
