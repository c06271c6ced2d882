// SPDX-License-Identifier: Apache-2.0
// Clocks throttled by power or heat while trials were timed.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "analysis/rules/wording.hpp"
#include "base/text.hpp"

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

std::string advice_for(const std::string& cause, const schema::Environment& environment) {
  const auto limited = std::find_if(environment.gpus.begin(), environment.gpus.end(), [](const auto& gpu) {
    return gpu.power_limit_w && gpu.default_power_limit_w && *gpu.power_limit_w < *gpu.default_power_limit_w;
  });
  if (cause.find("power") != std::string::npos)
    return limited != environment.gpus.end()
               ? fmt::format(
                     "The power limit is {:.0f} W of {:.0f} W: raise it, or tune under the limit that the service has",
                     *limited->power_limit_w, *limited->default_power_limit_w)
               : std::string(
                     "The card is at its power limit: these are the speeds that a service under full load gets");
  if (cause.find("thermal") != std::string::npos) return "Improve cooling, then repeat: a cooler card is a faster one";
  return "Repeat when the card can hold its clock before you rely on small differences";
}

}  // namespace

std::vector<Finding> gpu_clock_rule(const Evidence& evidence) {
  const auto found = collect(evidence);
  if (found.ids.empty()) return {};
  const auto cause = found.ns.empty() ? main_of(found.samples.by) : main_of(found.ns);
  std::vector<std::string> parts{trials_text(found.ids)};
  for (const auto& [name, ns] : found.ns)
    parts.push_back(
        fmt::format("{} for {} of {} timed", name, base::format_duration(ns), base::format_duration(found.timed_ns)));
  for (const auto& [reason, count] : found.samples.by)
    parts.push_back(count == 0 ? reason + " at times"
                               : fmt::format("{} in {} of {} samples", reason, count, found.samples.all));
  if (!found.samples.by.empty()) parts.emplace_back("the driver counts no time");
  if (found.lowest_mhz > 0) parts.push_back(fmt::format("SM clock down to {:.0f} MHz", found.lowest_mhz));
  if (found.discarded_s > 0)
    parts.push_back(
        fmt::format("{} of timing was thrown away and taken again", base::format_duration(found.discarded_s * 1e9)));
  if (found.kept_throttled) parts.emplace_back("some results count although the clock was throttled");
  return {{FindingKind::quality,
           fmt::format("The GPU throttled its clocks during {} of {} trials{}", found.ids.size(),
                       evidence.run.trials.size(), found.chosen ? evidence.chosen_among_them() : ""),
           fmt::format("{}", fmt::join(parts, "; ")), advice_for(cause, evidence.run.environment)}};
}

}  // namespace ridgeline::analysis
