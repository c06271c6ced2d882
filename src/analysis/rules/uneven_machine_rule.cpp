// SPDX-License-Identifier: Apache-2.0
// When the machine was slower than at its quietest, by how much, why as far as can be seen, and what of the answer
// rests on that.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/machine_speed.hpp"
#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

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
std::string likely_cause(const Evidence& evidence) {
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

std::string times_text(std::vector<Stretch> stretches) {
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const auto& a, const auto& b) { return a.to_s - a.from_s > b.to_s - b.from_s; });
  const auto more = stretches.size() - std::min(kListed, stretches.size());
  stretches.resize(stretches.size() - more);
  std::sort(stretches.begin(), stretches.end(), [](const auto& a, const auto& b) { return a.from_s < b.from_s; });
  std::vector<std::string> texts;
  for (const auto& stretch : stretches)
    texts.push_back(
        fmt::format("{:.1f} times from {:.0f} to {:.0f} s", std::exp(stretch.slowest), stretch.from_s, stretch.to_s));
  if (more > 0) texts.push_back(fmt::format("{} shorter stretch{}", more, more == 1 ? "" : "es"));
  return base::listed(texts);
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
    finding.title = fmt::format("{}: up to {:.1f} times slower{}", kUneven, std::exp(slowest),
                                run.speed->tracks.size() > 1 ? " on " + track.device : "");
    if (run.speed->taken_again > 0)
      finding.title += fmt::format(", so {} trial{} taken again", run.speed->taken_again,
                                   run.speed->taken_again == 1 ? " was" : "s were");
    finding.evidence =
        fmt::format("{}, by {} timings of one configuration", times_text(stretches), track.readings.size());
    if (const auto cause = likely_cause(evidence); !cause.empty())
      finding.evidence += "; " + cause;
    else
      finding.evidence += "; no other process and no throttling was seen, so it may be a neighbour on the same host";
    const bool proven = run.verdict && run.verdict->decision == schema::Decision::change && run.verdict->gain;
    if (seen_s > 0 && slow_s > kMostlySlow * seen_s)
      finding.advice = fmt::format(
          "It was slow for {:.0f} % of the run: {} Close what else runs, or pin this to CPUs of its own (taskset), and "
          "repeat with --fresh",
          100 * slow_s / seen_s,
          proven ? "the gain over the current configuration is proven side by side, the order of trials that are close "
                   "is not."
                 : "nothing could be proven but what comparisons side by side show.");
    else
      finding.advice =
          "Times in the ranking are corrected for it, and comparisons were made side by side; for small differences "
          "repeat with --fresh while nothing else runs";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ridgeline::analysis
