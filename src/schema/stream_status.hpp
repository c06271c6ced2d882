// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::schema {

/// Milliseconds.
struct LatencySummary {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};
RL_DECLARE_JSON(LatencySummary)

/// A check of the pipeline's own numbers.
struct StreamCheck {
  std::string name;
  bool passed = true;
  std::string message;
};
RL_DECLARE_JSON(StreamCheck)

/// A pipeline so far.
struct StreamStatus {
  double elapsed_s = 0;      ///< since it was ready
  std::int64_t offered = 0;  ///< frames that came in
  std::int64_t delivered = 0;
  std::int64_t in_time = 0;                     ///< of these, by their deadline
  std::map<std::string, std::int64_t> dropped;  ///< by reason
  std::int64_t skipped = 0;                     ///< on purpose, as not every frame is to be inferred
  std::int64_t in_flight = 0;
  std::int64_t queued = 0;
  std::int64_t unwritten = 0;         ///< results that wait for the output
  double span_s = 0;                  ///< from the first frame to the last event
  double delivered_per_s = 0;         ///< in that span
  double goodput_per_s = 0;           ///< of frames in time
  LatencySummary latency;             ///< from when a frame was due, or came in, until it left
  LatencySummary late;                ///< parts of it: from due to in the queue,
  LatencySummary queue;               ///< waiting,
  LatencySummary service;             ///< preparing, inference, decoding,
  LatencySummary order;               ///< waiting for frames before it
  std::vector<std::int64_t> batches;  ///< inferences by number of frames; the first is of none
  double mean_batch = 0;
  double busy = 0;          ///< share of the workers' time in the span
  double busy_workers = 0;  ///< inferences under way on average
  /// Seconds of all workers: preprocess, inference, postprocess, copy (to and from the device, where that is known:
  /// else part of the inference), with a second model crops, and idle: no_frame, filling (waiting for a fuller batch),
  /// output (held back by it).
  std::map<std::string, double> worker_s;
  std::int64_t failures = 0;  ///< inferences that failed
  std::string last_failure;
  std::vector<std::string> lost_sources;  ///< what ended those that did not come to their end
  std::vector<std::string> lost_videos;   ///< what ended those that are written
  std::vector<StreamCheck> checks;        ///< at the end
  bool is_void = false;                   ///< the load generator was too late to be believed
  std::string audit;                      ///< its own words; "" without one

  [[nodiscard]] std::int64_t all_dropped() const;
};
RL_DECLARE_JSON(StreamStatus)

/// A source once it is open.
struct StreamSourceInfo {
  std::string name;
  std::int64_t width = 0;
  std::int64_t height = 0;
  double fps = 0;            ///< 0: not known
  std::int64_t frames = -1;  ///< -1: not known
  bool is_live = false;
  std::string decoder;
};
RL_DECLARE_JSON(StreamSourceInfo)

/// A pipeline that is ready.
struct StreamReady {
  std::vector<StreamSourceInfo> sources;
  std::string runtime;
  std::string input;
  std::string decoder;
  std::int64_t workers = 0;
  std::int64_t queue_size = 0;
  std::map<std::string, double> warm_ms;  ///< median of an inference by batch size, as text
  double ready_s = 0;                     ///< from the request on
  std::vector<std::string> notes;
};
RL_DECLARE_JSON(StreamReady)

}  // namespace ridgeline::schema
