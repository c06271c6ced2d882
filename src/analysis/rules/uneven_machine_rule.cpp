// SPDX-License-Identifier: Apache-2.0
// When the machine was slower than at its quietest, by how much, why as far as can be seen, and what of the answer
// rests on that.
#include <algorithm>
#include <cmath>

#include "analysis/machine_speed.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

constexpr double kMostlySlow = 0.5;  // of the time: the machine never got steady
constexpr std::size_t kListed = 3;

struct Stretch {
  double from_s = 0;
  double to_s = 0;
  double slowest = 0;  ///< log
};

/// Readings in a row that were slow; a stretch lasts from its first reading to the one after its last.
std::vector<Stretch> slow_stretches(const std::vector<schema::SpeedReading>& readings, const MachineSpeed& speed,
                                    double end_s) {
  std::vector<Stretch> stretches;
  bool open = false;
  for (const auto& reading : readings) {
    if (open) stretches.back().to_s = reading.at_s;
    open = is_slow(reading, speed);
    if (!open) continue;
    const double slowdown = speed.at(reading.at_s).log_cost - speed.quiet_log_cost();
    if (stretches.empty() || stretches.back().to_s != reading.at_s)
      stretches.push_back({reading.at_s, reading.at_s, slowdown});
    stretches.back().slowest = std::max(stretches.back().slowest, slowdown);
  }
  if (open) stretches.back().to_s = std::max(stretches.back().to_s, end_s);
  return stretches;
}

/// What telemetry of the host or the GPU saw, of comparisons and trials.
schema::Message likely_cause(const Evidence& evidence) {
  for (const auto* code : {"others_throughout", "others_at_times", "throttled", "throttled_rounds", "gpu_shared",
                           "shared_rounds", "stolen"}) {
    for (const auto& pair : evidence.run.pairs)
      for (const auto& flag : pair.flags)
        if (flag.code == code) return flag.message;
    for (const auto& trial : evidence.run.trials) {
      const auto found = evidence.outcomes.find(trial.key);
      if (found == evidence.outcomes.end() || !found->second.measurement) continue;
      for (const auto& flag : found->second.measurement->flags)
        if (flag.code == code) return flag.message;
    }
  }
  return {};
}

std::vector<schema::Message> longest(std::vector<Stretch> stretches) {
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const auto& a, const auto& b) { return a.to_s - a.from_s > b.to_s - b.from_s; });
  const auto more = stretches.size() - std::min(kListed, stretches.size());
  stretches.resize(stretches.size() - more);
  std::sort(stretches.begin(), stretches.end(), [](const auto& a, const auto& b) { return a.from_s < b.from_s; });
  std::vector<schema::Message> said;
  for (const auto& stretch : stretches)
    said.push_back(
        messages::stretch({.times = std::exp(stretch.slowest), .from_s = stretch.from_s, .to_s = stretch.to_s}));
  if (more > 0) said.push_back(messages::shorter_stretches(static_cast<std::int64_t>(more)));
  return said;
}

}  // namespace

std::vector<Finding> uneven_machine_rule(const Evidence& evidence) {
  const auto& run = evidence.run;
  if (!run.speed) return {};
  std::vector<Finding> findings;
  for (const auto& track : run.speed->tracks) {
    const MachineSpeed speed(track.readings);
    const auto stretches = slow_stretches(track.readings, speed, run.duration_s);
    if (stretches.empty()) continue;
    double slowest = 0;
    double slow_s = 0;
    for (const auto& stretch : stretches) {
      slowest = std::max(slowest, stretch.slowest);
      slow_s += stretch.to_s - stretch.from_s;
    }
    const double seen_s = std::max(run.duration_s, 1e-9) - track.readings.front().at_s;
    Finding finding;
    finding.kind = FindingKind::quality;
    finding.of_unrest = true;
    finding.title = messages::uneven(
        {.times = std::exp(slowest),
         .device = run.speed->tracks.size() > 1 ? track.device : "",
         .again = run.speed->taken_again > 0 ? std::optional<std::int64_t>(run.speed->taken_again) : std::nullopt});
    finding.evidence = messages::uneven_evidence({.stretches = longest(stretches),
                                                  .timings = static_cast<std::int64_t>(track.readings.size()),
                                                  .cause = likely_cause(evidence)});
    const bool proven = run.verdict && run.verdict->decision == schema::Decision::change && run.verdict->gain;
    finding.advice = seen_s > 0 && slow_s > kMostlySlow * seen_s
                         ? messages::mostly_slow({.share = slow_s / seen_s, .proven = proven})
                         : messages::corrected_for_it();
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ridgeline::analysis
