// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_moment.hpp"

#include <utility>

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamGpu, utilization_percent, memory_used_bytes, memory_total_bytes, temperature_c, power_w,
               sm_percent, tensor_percent)
RL_DEFINE_JSON(StreamMoment, at_s, offered_per_s, delivered_per_s, dropped_per_s, queued, p50, p95, p99, gpu)

std::optional<StreamEnergy> energy_of(const std::vector<StreamMoment>& moments) {
  double frames = 0;
  double joules = 0;
  double seconds = 0;
  double before_s = 0;
  for (const auto& moment : moments) {
    const double took_s = moment.at_s - std::exchange(before_s, moment.at_s);
    if (!moment.gpu || !moment.gpu->power_w || took_s <= 0) continue;
    frames += moment.delivered_per_s * took_s;
    joules += *moment.gpu->power_w * took_s;
    seconds += took_s;
  }
  if (joules <= 0) return std::nullopt;
  return StreamEnergy{frames / joules, joules / seconds};
}

}  // namespace ridgeline::schema
