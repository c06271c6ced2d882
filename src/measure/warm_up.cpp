// SPDX-License-Identifier: Apache-2.0
#include "measure/warm_up.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/messages.hpp"
#include "measure/steadiness.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::measure {
namespace {

constexpr std::size_t kKeptSamples = 1U << 16U;

double median_of_later_half(const std::vector<double>& samples) {
  return stats::median({samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end()});
}

}  // namespace

base::Result<WarmUpResult> warm_up(ConcurrentRunner& runner, const schema::MeasurementPlan& plan,
                                   MeasureControl& control) {
  WarmUpResult result;
  const auto cancelled = [&] { return result.cancelled = control.cancel.load(std::memory_order_relaxed); };
  if (cancelled()) return result;
  RL_TRY(runner.run({1, 1, std::nullopt}));
  result.first_run_ns = runner.slowest_first_ns();

  const double cap_ns = std::max(0.0, plan.warmup_max_s) * 1e9;
  const double at_least_ns = std::min(cap_ns, kMinWarmUpS * 1e9);
  std::vector<double> samples;
  auto state = Steadiness::unknown;
  auto target = cap_ns > 0 ? std::max<std::int64_t>(plan.warmup_runs, kSteadyMinSamples) : plan.warmup_runs;
  while (result.runs < plan.warmup_runs || result.time_ns < cap_ns) {
    if (cancelled()) return result;
    RoundLimits limits;
    limits.max_inferences = target - result.runs;
    limits.min_inferences = std::max<std::int64_t>(1, plan.warmup_runs - result.runs);
    limits.duration = base::Nanoseconds(static_cast<std::int64_t>(std::max(0.0, cap_ns - result.time_ns)));
    RL_TRY(runner.run(limits));
    runner.append_latencies(samples);
    result.runs += std::max<std::int64_t>(1, runner.counted_per_caller());
    result.time_ns += static_cast<double>(runner.elapsed().count());
    if (cancelled()) return result;
    if (result.runs >= plan.warmup_runs && result.time_ns >= at_least_ns) {
      state = check_steadiness(samples);
      if (state == Steadiness::steady) break;
    }
    // The judged half must outgrow a transient, hence geometric growth; older samples are not needed again.
    if (samples.size() > kKeptSamples)
      samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2));
    target = std::max(target, result.runs + std::max<std::int64_t>(3, result.runs / 2));
  }
  result.expected_latency_ns = samples.empty() ? result.first_run_ns : median_of_later_half(samples);
  if (cap_ns > 0 && state != Steadiness::steady)
    result.flag = schema::QualityFlag{
        schema::FlagLevel::notice, "not_steady",
        messages::not_steady(
            {.unknown = state == Steadiness::unknown, .inferences = result.runs, .time_s = result.time_ns * 1e-9})};
  return result;
}

}  // namespace ridgeline::measure
