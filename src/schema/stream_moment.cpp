// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_moment.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamGpu, utilization_percent, memory_used_bytes, memory_total_bytes, temperature_c, power_w,
               sm_percent, tensor_percent)
RL_DEFINE_JSON(StreamMoment, at_s, offered_per_s, delivered_per_s, dropped_per_s, queued, p50, p95, p99, gpu)

}  // namespace ridgeline::schema
