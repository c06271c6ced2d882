// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// Milliseconds. Percentiles that so few frames do not support are absent (stats::samples_needed).
struct LatencySummary {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<double> p999;
  double max = 0;
};
RL_DECLARE_JSON(LatencySummary)

/// The highest percentile that is known, up to the 99th: its name and ms.
[[nodiscard]] std::pair<std::string, double> tail_of(const LatencySummary& latency);
/// "p99 31.2 ms", "p50 20.1 ms".
[[nodiscard]] std::string tail_text(const LatencySummary& latency, int decimals);

/// How late a load was, against the times that were fixed before the run; milliseconds.
struct LoadLateness {
  double p999 = 0;
  double max = 0;
  double limit = 0;              ///< of p999
  std::int64_t late_frames = 0;  ///< issued later than the limit

  [[nodiscard]] bool is_late() const noexcept { return p999 > limit; }
};
RL_DECLARE_JSON(LoadLateness)

/// What is said of it. `no_priority`: the thread that offered the load has none here; `held`: the limits of the run
/// were held although it was late.
[[nodiscard]] Message lateness_message(const LoadLateness& lateness, bool no_priority, bool held);

/// A check of the pipeline's own numbers.
struct StreamCheck {
  std::string name;
  bool passed = true;
  Message message;  ///< both sides of it
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
  std::int64_t queue_size = 0;        ///< how many frames may wait: with an SLO it follows what inferences take
  std::int64_t unwritten = 0;         ///< results that wait for the output
  double span_s = 0;                  ///< from the first frame to the last event
  double delivered_per_s = 0;         ///< in that span
  double goodput_per_s = 0;           ///< of frames in time
  LatencySummary latency;             ///< from when a frame was due, or came in, until it left
  std::int64_t over_slo = 0;          ///< delivered frames whose latency is above the limit
  LatencySummary late;                ///< parts of it: from due to in the queue,
  LatencySummary queue;               ///< waiting,
  LatencySummary service;             ///< preparing, inference, decoding,
  LatencySummary order;               ///< waiting for frames before it
  std::vector<std::int64_t> batches;  ///< inferences by number of frames; the first is of none
  double mean_batch = 0;
  double busy = 0;          ///< share of the workers' time in the span
  double busy_workers = 0;  ///< inferences under way on average
  /// Seconds of all workers: preprocess, inference, postprocess, copy (to and from the device, where that is known:
  /// else part of the inference), wait (for a GPU that has other batches before), with a second model crops, and idle:
  /// no_frame, filling (waiting for a fuller batch), output (held back by it).
  std::map<std::string, double> worker_s;
  std::int64_t failures = 0;  ///< inferences that failed
  Message last_failure;
  std::vector<Message> lost_sources;     ///< what ended those that did not come to their end
  std::vector<Message> lost_videos;      ///< what ended those that are written
  std::vector<StreamCheck> checks;       ///< at the end
  std::optional<LoadLateness> lateness;  ///< of a load whose times were fixed; none when it was cut short
  Message audit;                         ///< lateness_message; empty without one
  bool is_void = false;                  ///< the limits were missed, and a load that was late may be why
  /// Share of the time since it was ready in which an inference was under way on the GPU, by events around each; absent
  /// where batches do not overlap on a GPU.
  std::optional<double> gpu_busy{};
  std::map<std::string, double> gpu_idle{};  ///< the rest of that time by cause (idle_causes)
  std::optional<double> uploads_hidden{};    ///< share of the time of uploads in which an inference was under way
  std::optional<double>
      slow_inferences{};                  ///< share that took more than twice the median of their batch size on the GPU
  std::optional<double> uploading{};      ///< share of that time in which frames were on their way to the GPU
  std::optional<double> share_of_peak{};  ///< delivered_per_s over the peak that a bench of the same pipeline measured

  [[nodiscard]] std::int64_t all_dropped() const;
};
RL_DECLARE_JSON(StreamStatus)

/// Shares of `idle` by what batches in flight did instead of being computed, in proportion to the workers' seconds:
/// source (no frame was there), queue (waiting for a fuller batch), host (preparing frames), copy, decode (decoding
/// results and crops), order (results waited for those before them or for the output). Empty where there was none of
/// it.
[[nodiscard]] std::map<std::string, double> idle_causes(const std::map<std::string, double>& worker_s, double idle);
/// The frames come slower than the GPU could take them: more than half of the time in which it is idle, and at least a
/// tenth of all.
[[nodiscard]] bool is_source_bound(const StreamStatus& status);

/// "83 % busy, 71 % of its peak, uploading 12 %; idle: source 10 %, host 5 %"; "" where it is not known.
[[nodiscard]] std::string gpu_busy_text(const StreamStatus& status);

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
  std::vector<Message> notes;
  std::int64_t batch_size = 0;  ///< frames of one inference at most: what was chosen, or is left where memory ran out
};
RL_DECLARE_JSON(StreamReady)

}  // namespace ridgeline::schema
