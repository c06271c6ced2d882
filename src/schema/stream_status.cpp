// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_status.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(LatencySummary, count, mean, p50, p95, p99, p999, max)
RL_DEFINE_JSON(StreamCheck, name, passed, message)
RL_DEFINE_JSON(StreamStatus, elapsed_s, offered, delivered, in_time, dropped, skipped, in_flight, queued, unwritten,
               span_s, delivered_per_s, goodput_per_s, latency, late, queue, service, order, batches, mean_batch, busy,
               busy_workers, worker_s, failures, last_failure, lost_sources, lost_videos, checks, is_void, audit)
RL_DEFINE_JSON(StreamSourceInfo, name, width, height, fps, frames, is_live, decoder)
RL_DEFINE_JSON(StreamReady, sources, runtime, input, decoder, workers, queue_size, warm_ms, ready_s, notes)

std::int64_t StreamStatus::all_dropped() const {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : dropped) sum += count;
  return sum;
}

}  // namespace ridgeline::schema
