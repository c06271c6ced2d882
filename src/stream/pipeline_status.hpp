// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "stream/batch_runner.hpp"
#include "stream/flow_meter.hpp"

namespace ridgeline::stream {

/// Where the time of workers went, summed over them, in nanoseconds since the pipeline was ready.
struct WorkerTime {
  std::uint32_t workers = 1;
  BatchTimes busy;
  std::int64_t no_frame_ns = 0;  ///< idle, and no frame was there: the source, or the load
  std::int64_t waiting_ns = 0;   ///< idle although frames waited: for a fuller batch
  std::int64_t sink_ns = 0;      ///< idle, and frames were held back as results waited for the sink
};

/// What a pipeline has done so far; a copy.
struct PipelineStatus {
  FlowMeter meter;
  WorkerTime workers;
  std::size_t in_flight = 0;                ///< frames that came in and have not left
  std::size_t queued = 0;                   ///< of these, waiting for a worker
  std::size_t capacity = 0;                 ///< how many may
  std::size_t unwritten = 0;                ///< results that wait for the sink
  std::uint64_t written = 0;                ///< by the sink, gaps included
  std::uint64_t failures = 0;               ///< batches that failed
  std::optional<base::Error> last_failure;  ///< of them
};

}  // namespace ridgeline::stream
