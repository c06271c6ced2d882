// SPDX-License-Identifier: Apache-2.0
#include "measure/measurement_session.hpp"

#include <algorithm>
#include <vector>

#include "measure/concurrent_runner.hpp"
#include "measure/disturbance.hpp"
#include "measure/messages.hpp"
#include "measure/steadiness.hpp"
#include "measure/stopping_criterion.hpp"
#include "measure/timed_window.hpp"
#include "measure/warm_up.hpp"

namespace ridgeline::measure {
namespace {

// Inferences a round in all callers together: 0.5 MiB of time stamps, and at 1 us an inference a look every 65 ms.
constexpr std::int64_t kRoundSamples = 1 << 16;

// A change of level worth a remark: what warm-up, which sees a fraction of a second, could not.
constexpr double kDriftRatio = 0.03;

/// Of the whole timed window; with a fixed number of runs what they should take.
double window_budget_s(const schema::MeasurementPlan& plan, double expected_latency_ns) {
  return plan.runs ? static_cast<double>(*plan.runs) * expected_latency_ns * 1e-9 : plan.max_time_s;
}

base::Result<void> check_plan(const schema::MeasurementPlan& plan) {
  if (plan.warmup_runs < 0 || plan.min_runs < 0 || plan.max_runs < 1 || (plan.runs && *plan.runs < 1))
    return base::fail(
        base::ErrorCode::invalid_argument,
        "measurement plan asks for warmup_runs={} min_runs={} max_runs={} runs={}, expected at least 0, 0, 1, 1",
        plan.warmup_runs, plan.min_runs, plan.max_runs, plan.runs.value_or(1));
  return {};
}

void add_flags(schema::Measurement& measurement, const schema::MeasurementPlan& plan,
               const StoppingCriterion& criterion) {
  using schema::FlagLevel;
  const auto count = static_cast<std::int64_t>(measurement.latency_ns.size());
  if (measurement.stop_reason == schema::StopReason::cancelled)
    measurement.flags.push_back({FlagLevel::error, "cancelled", messages::timing_cancelled(count)});
  if (check_steadiness(measurement.latency_ns, kDriftRatio) == Steadiness::moving)
    measurement.flags.push_back({FlagLevel::notice, "drift", messages::drifted()});
  const auto& interval = criterion.interval();
  if (!interval)
    measurement.flags.push_back({FlagLevel::notice, "few_samples", messages::few_samples(count)});
  else if (measurement.stop_reason != schema::StopReason::stopped_early && interval->value > 0) {
    const double ratio = std::max(interval->high - interval->value, interval->value - interval->low) / interval->value;
    if (ratio > plan.target_interval_ratio)
      measurement.flags.push_back(
          {FlagLevel::info, "wide_interval",
           messages::median_interval_wide({.half = ratio, .target = plan.target_interval_ratio})});
  }
}

}  // namespace

base::Result<schema::Measurement> measure(workload::Workload& workload, const schema::MeasurementPlan& plan,
                                          MeasureControl& control) {
  RL_TRY(check_plan(plan));
  control.phase.store(schema::TrialPhase::warmup, std::memory_order_relaxed);
  RL_TRY_ASSIGN(const auto runner,
                ConcurrentRunner::make(workload, control, kRoundSamples / std::max(1, workload.concurrency())));

  schema::Measurement result;
  result.concurrency = runner->concurrency();
  result.items_per_inference = workload.items_per_step();
  result.session_create_ns = static_cast<double>(workload.session_create_time().count());
  RL_TRY_ASSIGN(const auto warmed, warm_up(*runner, plan, control));
  result.first_run_ns = warmed.first_run_ns;
  result.warmup_runs = warmed.runs;
  result.warmup_ns = warmed.time_ns;
  if (warmed.flag) result.flags.push_back(*warmed.flag);

  StoppingCriterion criterion({plan, result.concurrency, result.items_per_inference, control.stop_above_ns,
                               control.throughput, warmed.expected_latency_ns});
  const bool real_time = workload.clock().is_real();
  const auto before = real_time ? read_disturbance() : DisturbanceCounters{};
  control.phase.store(schema::TrialPhase::measure, std::memory_order_relaxed);
  TimedWindow window(*runner, control.gpu, window_budget_s(plan, warmed.expected_latency_ns));
  double spent_s = 0;
  std::int64_t target = 0;
  std::optional<schema::StopReason> stop;
  const auto decide = [&] {
    stop = criterion.decide(window.samples(), window.done_per_caller(), window.elapsed_s());
    if (!stop && static_cast<std::int64_t>(window.samples().size()) >= plan.max_runs && !plan.runs)
      stop = schema::StopReason::run_limit;
  };
  while (!stop) {
    if (control.cancel.load(std::memory_order_relaxed)) {
      stop = schema::StopReason::cancelled;
      break;
    }
    const auto done = window.done_per_caller();
    if (done >= target || control.gpu == nullptr) target = done + criterion.next_round(done);
    RoundLimits limits;
    limits.max_inferences = target - done;
    limits.duration = window.round_limit(criterion.time_left_s(window.elapsed_s()));
    RL_TRY(runner->run(limits));
    window.add_round();
    spent_s += base::to_seconds(runner->elapsed());
    if (window.short_of(target, criterion.time_left_s(window.elapsed_s()))) continue;
    decide();
    if (stop && !window.settle()) decide();
  }
  window.finish(result.items_per_inference, result.flags);
  result.stop_reason = *stop;
  result.wall_ns = window.window_ns();
  result.latency_ns = window.take_samples();
  if (real_time)
    if (auto flag =
            judge_disturbance(before, read_disturbance(), spent_s, static_cast<std::int64_t>(result.latency_ns.size())))
      result.flags.push_back(std::move(*flag));
  add_flags(result, plan, criterion);
  for (auto& flag : workload.flags()) result.flags.push_back(std::move(flag));
  result.effective_settings = workload.effective_settings();
  result.metrics.merge(workload.metrics());
  result.ran_on = workload.ran_on();
  return result;
}

}  // namespace ridgeline::measure
