// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/stream_progress.hpp"

namespace ridgeline::fakes {

/// A stream under load, some seconds after it began.
inline schema::StreamProgress busy_stream(double elapsed_s = 12) {
  schema::StreamProgress out;
  auto& status = out.status;
  status.elapsed_s = elapsed_s;
  status.offered = static_cast<std::int64_t>(100 * elapsed_s);
  status.dropped = {{"deadline", 30}, {"queue_full", 6}};
  status.in_flight = 9;
  status.delivered = status.offered - status.in_flight - status.all_dropped();
  status.queued = 5;
  status.queue_size = 20;
  status.unwritten = 1;
  status.delivered_per_s = 96.25;
  status.goodput_per_s = 95.5;
  status.latency = {status.delivered, 22, 20.5, 41.25, 55.75, 58, 59};
  status.batches = {0, 10, 20, 0, 70};
  status.mean_batch = 3.3;
  status.busy = 0.87;
  status.busy_workers = 1.4;
  status.worker_s = {{"preprocess", 2}, {"inference", 14}, {"copy", 1},  {"postprocess", 1},
                     {"no_frame", 5},   {"filling", 0},    {"output", 1}};
  out.recent = {elapsed_s, 100, 96, 3, 5, 21, 42, 57.5, schema::StreamGpu{88, 12.5e9, 85e9, 61, 402}};
  return out;
}

}  // namespace ridgeline::fakes
