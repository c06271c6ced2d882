// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/machine_load.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ridgeline::workload {
namespace {

double exponential(base::Random& random, double mean) { return -mean * std::log(1 - random.uniform()); }

/// How many times as long a configuration takes without so many of the cores.
double without_cores(const SyntheticOptions& options, const schema::Configuration& configuration, int absent) {
  const auto number = [&](const char* key, double fallback) {
    return configuration.get_or(key, schema::Value(fallback)).as_number(fallback);
  };
  const double threads = number("intra_op_num_threads", 0);
  const double asked =
      (threads > 0 ? threads : options.cores) * number("parallel_sessions", 1) * number("concurrent_runs", 1);
  return std::max(1.0, std::min<double>(asked, options.cores) / (options.cores - absent));
}

}  // namespace

MachineLoad::MachineLoad(const SyntheticOptions& options, const schema::Configuration& configuration,
                         std::uint64_t seed)
    : drift_(options.drift), drift_period_s_(base::to_seconds(options.drift_period)) {
  for (const auto& step : options.steps)
    if (holds(step.when, configuration)) steps_.push_back(step);
  std::uint64_t number = 0;
  for (const auto& burst : options.bursts) {
    ++number;
    if (!holds(burst.when, configuration)) continue;
    const double mean_s = base::to_seconds(burst.mean);
    const double size = burst.size * without_cores(options, configuration, burst.absent_cores);
    History history{
        size, mean_s, mean_s * (1 - burst.duty) / burst.duty, base::Random(seed + number * 0x9E3779B97F4A7C15ULL),
        {},   0};
    // The first turn begins a burst: whether the run begins in one is as likely as at any other moment.
    history.turns.push_back(history.random.uniform() < burst.duty ? 0 : exponential(history.random, history.pause_s));
    bursts_.push_back(std::move(history));
  }
}

bool MachineLoad::is_on(History& history, double at_s) {
  auto& turns = history.turns;
  while (turns.back() <= at_s)
    turns.push_back(turns.back() +
                    exponential(history.random, turns.size() % 2 == 1 ? history.mean_s : history.pause_s));
  while (history.at > 0 && turns[history.at - 1] > at_s) --history.at;
  while (history.at < turns.size() && turns[history.at] <= at_s) ++history.at;
  return history.at % 2 == 1;
}

double MachineLoad::factor(base::Nanoseconds at) {
  const double at_s = base::to_seconds(at);
  double factor = 1;
  if (drift_ > 0) factor += drift_ * std::sin(2 * std::numbers::pi * at_s / drift_period_s_);
  for (const auto& step : steps_)
    if (at >= step.from && at < step.to) factor *= step.size;
  for (auto& burst : bursts_)
    if (is_on(burst, at_s)) factor *= burst.size;
  return factor;
}

}  // namespace ridgeline::workload
