// SPDX-License-Identifier: Apache-2.0
#include "measure/disturbance.hpp"

#include <sys/resource.h>

#include <fmt/format.h>

#include "host/load.hpp"
#include "measure/messages.hpp"

namespace ridgeline::measure {
namespace {

constexpr double kMaxSwitchesPerSecond = 50;
constexpr double kMaxSwitchesPerInference = 0.05;
constexpr double kMaxStealRatio = 0.01;

}  // namespace

std::int64_t involuntary_switches() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

DisturbanceCounters read_disturbance() {
  DisturbanceCounters counters;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.voluntary_switches = usage.ru_nvcsw;
  }
  if (const auto times = host::read_cpu_times()) {
    counters.total_ticks = static_cast<std::int64_t>(times->all.total());
    counters.steal_ticks = static_cast<std::int64_t>(times->all.stolen);
  }
  return counters;
}

std::optional<schema::QualityFlag> judge_disturbance(const DisturbanceCounters& before,
                                                     const DisturbanceCounters& after, double seconds,
                                                     std::int64_t inferences) {
  if (seconds <= 0 || inferences <= 0) return std::nullopt;
  const auto switches = static_cast<double>(after.involuntary_switches - before.involuntary_switches);
  const auto ticks = static_cast<double>(after.total_ticks - before.total_ticks);
  const auto stolen = ticks > 0 ? static_cast<double>(after.steal_ticks - before.steal_ticks) / ticks : 0;
  if (stolen > kMaxStealRatio)
    return schema::QualityFlag{schema::FlagLevel::notice, "stolen", messages::stolen(stolen)};
  if (switches / seconds > kMaxSwitchesPerSecond &&
      switches / static_cast<double>(inferences) > kMaxSwitchesPerInference)
    return schema::QualityFlag{
        schema::FlagLevel::notice, "disturbed",
        messages::disturbed({.switches = switches, .inferences = inferences, .rate = switches / seconds})};
  return std::nullopt;
}

}  // namespace ridgeline::measure
