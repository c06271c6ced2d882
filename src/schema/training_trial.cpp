// SPDX-License-Identifier: Apache-2.0
#include "schema/training_trial.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(TrainingJob, kind, target, target_sha256, data_path, data_sha256, python, runtime, options, seed)
RL_DEFINE_JSON(TrainingPlan, steps, window_steps, max_steps, warmup_steps, max_warmup_steps, max_time_s, max_warmup_s,
               target_interval_ratio, prepare_limit_s, step_limit_s)
RL_DEFINE_JSON(TrainingTrialSpec, job, device, device_id, settings, data, plan, repeat)
RL_DEFINE_JSON(TrainingOutcome, status, measurement, failure, oom_evidence, measured_utc, duration_s)

}  // namespace ridgeline::schema
