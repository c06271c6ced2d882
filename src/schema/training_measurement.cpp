// SPDX-License-Identifier: Apache-2.0
#include "schema/training_measurement.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StepPhases, io_wait_ms, h2d_ms, forward_ms, backward_ms, optimizer_ms, rest_ms, wall_ms)
RL_DEFINE_JSON(PhaseSummary, io_wait_ms, h2d_ms, forward_ms, backward_ms, optimizer_ms, rest_ms, wall_ms)
RL_DEFINE_JSON(HostRead, call, place, per_step, ms_per_step)
RL_DEFINE_JSON(TrainingResources, peak_allocated_gb, peak_reserved_gb, device_capacity_gb, alloc_retries, num_ooms,
               gpu_busy, gpu_util, loader_cpu_s, loader_wall_s, loader_read_s, loader_decode_s, loader_memory_gb,
               host_available_gb, step_wall_s, step_cpu_s, step_others_cpu_s, skipped_steps, last_loss, losses,
               lost_at_step, host_reads)
RL_DEFINE_JSON(TrainingMeasurement, batch, warmup_steps, warmup_s, steps, discarded_steps, wall_ms, phases,
               samples_per_s, identity_error, resources, flags)

bool has_lost_loss(const TrainingMeasurement& measurement) noexcept {
  return has_flag(measurement.flags, kLossNotFinite);
}

}  // namespace ridgeline::schema
