// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "base/error.hpp"
#include "gpu/round_watch.hpp"
#include "schema/training_trial.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::measure {

/// The flag of a loss that is NaN or infinite.

struct TrainingControl {
  std::function<bool()> cancelled;                                       ///< polled between windows
  std::function<void(schema::TrialPhase, std::int64_t steps)> progress;  ///< between windows
  gpu::RoundWatch* watch = nullptr;                                      ///< of the device; nullptr: none
};

struct TrainingFailure {
  workload::StepError error;
  schema::TrialPhase phase = schema::TrialPhase::launch;
};

/// One trial: prepare, warm-up until steps are steady (at least plan.warmup_steps and what the workers had prefetched),
/// then windows until plan.steps are done and the interval of samples/s is narrow enough, or time or steps run out.
/// Windows in which the GPU throttled its clocks do not count and are taken again (ThrottleGuard).
[[nodiscard]] tl::expected<schema::TrainingMeasurement, TrainingFailure> measure_training(
    workload::StepRunner& runner, const schema::TrainingTrialSpec& spec, const TrainingControl& control);

/// Statistics of the counted windows. Phases: medians with distribution-free intervals. samples/s: samples over the
/// windows' wall time, with a Student interval over batches of consecutive steps.
[[nodiscard]] schema::TrainingMeasurement summarize_steps(const std::vector<workload::StepWindow>& windows,
                                                          std::int64_t batch);

}  // namespace ridgeline::measure
