// SPDX-License-Identifier: Apache-2.0
#include "measure/local_arm.hpp"

#include <algorithm>

#include "measure/settling.hpp"
#include "measure/warm_up.hpp"

namespace ridgeline::measure {
namespace {

constexpr std::int64_t kMaxBlockSamples = 1 << 16;  // in all callers together

}  // namespace

base::Result<std::unique_ptr<PairedArm>> LocalArm::make(const MakeWorkload& make, MeasureControl& control) {
  RL_TRY_ASSIGN(auto workload, make());
  control.phase.store(schema::TrialPhase::warmup, std::memory_order_relaxed);
  {
    RL_TRY_ASSIGN(const auto runner, ConcurrentRunner::make(*workload, control, 1));
    RL_TRY(runner->run({}));
  }
  return std::make_unique<LocalArm>(std::move(workload), control);
}

base::Result<std::optional<schema::QualityFlag>> LocalArm::warm_up(const schema::MeasurementPlan& plan) {
  RL_TRY_ASSIGN(runner_,
                ConcurrentRunner::make(*workload_, control_, kMaxBlockSamples / std::max(1, workload_->concurrency())));
  RL_TRY_ASSIGN(auto warmed, measure::warm_up(*runner_, plan, control_));
  return std::move(warmed.flag);
}

base::Result<TimedBlock> LocalArm::run_block(const schema::PairedPlan& plan) {
  TimedBlock block;
  // On a virtual clock nothing spins and nothing settles, and tests of campaigns would only get slower.
  if (plan.settle_s > 0 && real_time()) block.settle_s = base::to_seconds(settle(base::from_seconds(plan.settle_s)));
  if (plan.discard_runs > 0 || plan.discard_time_s > 0) {
    RL_TRY(runner_->run({runner_->capacity(), std::max<std::int64_t>(0, plan.discard_runs),
                         base::from_seconds(std::max(0.0, plan.discard_time_s))}));
    block.discard_s = base::to_seconds(runner_->elapsed());
  }
  if (cancelled()) return block;
  RL_TRY(runner_->run({runner_->capacity(), std::max<std::int64_t>(1, plan.min_block_runs),
                       base::from_seconds(std::max(0.0, plan.block_time_s))}));
  block.timed_s = base::to_seconds(runner_->elapsed());
  if (cancelled()) return block;
  runner_->append_latencies(block.latency_ns);
  runner_->clear_window();
  runner_->add_to_window();
  block.wall_ns = runner_->window_ns();
  block.complete = true;
  return block;
}

}  // namespace ridgeline::measure
