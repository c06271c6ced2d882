// SPDX-License-Identifier: Apache-2.0
#include "stream/peak_rate.hpp"

#include "stream/load_schedule.hpp"

namespace ridgeline::stream {
namespace {

constexpr int kProbes = 10;

base::Result<bool> sustains(const SimulationOptions& options, double rate_per_s, std::size_t frames,
                            const RateLimits& limits) {
  const auto duration_ns = static_cast<std::int64_t>(static_cast<double>(frames) / rate_per_s * 1e9);
  RL_TRY_ASSIGN(const auto arrivals, make_schedule({{.process = ArrivalProcess::poisson, .rate_per_s = rate_per_s}},
                                                   duration_ns, options.seed));
  RL_TRY_ASSIGN(const auto meter, simulate(options, arrivals));
  const auto& counters = meter.counters();
  return meter.stages().latency.quantile(limits.quantile) <= options.slo_ns &&
         static_cast<double>(counters.all_dropped()) <= limits.drops * static_cast<double>(counters.offered);
}

}  // namespace

base::Result<double> find_peak_rate(const SimulationOptions& options, double highest_per_s, std::size_t frames,
                                    const RateLimits& limits) {
  if (options.slo_ns <= 0) return base::fail(base::ErrorCode::invalid_argument, "a peak rate needs an SLO");
  double sustained = 0;
  double step = highest_per_s / 2;
  for (int probe = 0; probe < kProbes; ++probe, step /= 2) {
    RL_TRY_ASSIGN(const bool kept, sustains(options, sustained + step, frames, limits));
    if (kept) sustained += step;
  }
  return sustained;
}

}  // namespace ridgeline::stream
