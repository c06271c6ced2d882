// SPDX-License-Identifier: Apache-2.0
// Clocks throttled by power or heat while trials were timed.
#include <algorithm>
#include <map>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

namespace ridgeline::analysis {
namespace {

/// Below this share of the timed window a held clock is the card's usual breathing.
constexpr double kWorthSaying = 0.01;

/// Samples of timed windows with reasons for the clock.
struct ReasonSamples {
  int all = 0;
  int held = 0;                   ///< with a reason that throttles the clocks
  std::map<std::string, int> by;  ///< held, by reason; 0 where only the record's summary names it
};

struct Throttling {
  std::vector<int> ids;
  std::map<std::string, double> ns;  ///< by cause
  ReasonSamples samples;             ///< of trials whose driver counts no time
  double timed_ns = 0;
  double discarded_s = 0;
  double lowest_mhz = 0;        ///< 0: not read
  bool kept_throttled = false;  ///< some result was kept although throttled
  bool chosen = false;
};

ReasonSamples samples_of(const schema::GpuTelemetry& gpu) {
  ReasonSamples found;
  for (const auto& name : gpu.clock_reasons) found.by[name] = 0;
  for (const auto& sample : gpu.samples) {
    if (!sample.clock_reasons || sample.at_s < gpu.timed_from_s || sample.at_s > gpu.timed_to_s) continue;
    const auto names = schema::clock_reason_names(*sample.clock_reasons);
    ++found.all;
    if (!names.empty()) ++found.held;
    for (const auto& name : names) ++found.by[name];
  }
  return found;
}

Throttling collect(const Evidence& evidence) {
  Throttling found;
  for (const auto& trial : evidence.run.trials) {
    const auto at = evidence.outcomes.find(trial.key);
    if (at == evidence.outcomes.end() || !at->second.measurement || !at->second.measurement->gpu) continue;
    const auto& measurement = *at->second.measurement;
    const auto& gpu = *measurement.gpu;
    const double window_ns = (gpu.timed_to_s - gpu.timed_from_s) * 1e9;
    double most_ns = 0;
    for (const auto& [cause, ns] : gpu.throttle_ns) most_ns = std::max(most_ns, ns);
    const bool flagged = schema::has_flag(measurement.flags, "throttled");
    // A driver that counts no time may still have reported reasons.
    const auto samples = gpu.throttle_ns.empty() ? samples_of(gpu) : ReasonSamples{};
    const bool held = gpu.throttle_ns.empty() ? !samples.by.empty() && samples.held >= kWorthSaying * samples.all
                                              : most_ns >= kWorthSaying * window_ns;
    if (window_ns <= 0 ||
        (!held && !flagged && (gpu.discarded_s <= 0 || schema::has_flag(measurement.flags, "shared_rounds"))))
      continue;
    found.ids.push_back(trial.id);
    found.timed_ns += window_ns;
    found.discarded_s += gpu.discarded_s;
    for (const auto& [cause, ns] : gpu.throttle_ns)
      if (ns > 0) found.ns[cause] += ns;
    found.samples.all += samples.all;
    for (const auto& [reason, count] : samples.by) found.samples.by[reason] += count;
    if (gpu.sm_clock_min_mhz && (found.lowest_mhz == 0 || *gpu.sm_clock_min_mhz < found.lowest_mhz))
      found.lowest_mhz = *gpu.sm_clock_min_mhz;
    found.kept_throttled = found.kept_throttled || flagged;
    found.chosen = found.chosen || (evidence.chosen != nullptr && evidence.chosen->trial->id == trial.id);
  }
  return found;
}

/// The key of the largest; "" of none.
template <typename Amount>
std::string main_of(const std::map<std::string, Amount>& amounts) {
  const auto main = std::max_element(amounts.begin(), amounts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return main == amounts.end() ? std::string() : main->first;
}

schema::Message advice_for(const std::string& cause, const schema::Environment& environment) {
  const auto limited = std::find_if(environment.gpus.begin(), environment.gpus.end(), [](const auto& gpu) {
    return gpu.power_limit_w && gpu.default_power_limit_w && *gpu.power_limit_w < *gpu.default_power_limit_w;
  });
  if (cause.find("power") != std::string::npos)
    return limited != environment.gpus.end() ? messages::raise_power_limit({.limit = *limited->power_limit_w,
                                                                            .usual = *limited->default_power_limit_w})
                                             : messages::at_power_limit();
  return cause.find("thermal") != std::string::npos ? messages::improve_cooling() : messages::hold_clock();
}

schema::Message evidence_of(const Throttling& found) {
  std::vector<schema::Message> causes;
  for (const auto& [name, ns] : found.ns)
    causes.push_back(messages::throttled_for({.cause = name, .time = ns, .timed = found.timed_ns}));
  std::vector<schema::Message> reasons;
  for (const auto& [reason, count] : found.samples.by)
    reasons.push_back(
        count == 0 ? messages::throttled_at_times(reason)
                   : messages::throttled_in_samples({.reason = reason, .count = count, .all = found.samples.all}));
  return messages::throttling(
      {.trials = found.ids,
       .causes = std::move(causes),
       .reasons = std::move(reasons),
       .clock = found.lowest_mhz > 0 ? std::optional(found.lowest_mhz) : std::nullopt,
       .discarded = found.discarded_s > 0 ? std::optional(found.discarded_s * 1e9) : std::nullopt,
       .kept = found.kept_throttled});
}

}  // namespace

std::vector<Finding> gpu_clock_rule(const Evidence& evidence) {
  const auto found = collect(evidence);
  if (found.ids.empty()) return {};
  const auto cause = found.ns.empty() ? main_of(found.samples.by) : main_of(found.ns);
  return {{FindingKind::quality,
           messages::gpu_throttled({.count = static_cast<std::int64_t>(found.ids.size()),
                                    .all = static_cast<std::int64_t>(evidence.run.trials.size()),
                                    .among = found.chosen,
                                    .best = evidence.chosen_is_best()}),
           evidence_of(found), advice_for(cause, evidence.run.environment)}};
}

}  // namespace ridgeline::analysis
