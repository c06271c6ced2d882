// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/latency_histogram.hpp"
#include "stream/frame.hpp"
#include "stream/result_order.hpp"
#include "stream/self_check.hpp"

namespace ridgeline::stream {

struct FlowCounters {
  std::uint64_t offered = 0;
  std::uint64_t delivered = 0;
  std::uint64_t in_time = 0;                          ///< of those delivered: by their deadline, or without one
  std::array<std::uint64_t, kDropReasons> dropped{};  ///< by DropReason

  [[nodiscard]] std::uint64_t dropped_for(DropReason reason) const noexcept {
    return dropped[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] std::uint64_t all_dropped() const noexcept;
};

/// Where the time of delivered frames went.
struct StageTimes {
  stats::LatencyHistogram late;     ///< from intended to entered: the source or load generator
  stats::LatencyHistogram queue;    ///< from entered to launched
  stats::LatencyHistogram service;  ///< from launched to done
  stats::LatencyHistogram order;    ///< from done to left: waiting for those before it
  stats::LatencyHistogram latency;  ///< from intended to left
};

/// Counts frames and times as they pass through a pipeline. A drop is counted as a drop, never as a missing sample.
/// Times never go back. Not thread-safe.
class FlowMeter {
 public:
  void enter(std::int64_t now_ns);
  void launch(std::uint32_t frames, std::int64_t now_ns);
  void complete(std::int64_t now_ns);
  void leave(const FrameResult& result);

  [[nodiscard]] const FlowCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const StageTimes& stages() const noexcept { return stages_; }
  /// Launches by number of frames; index 0 is unused.
  [[nodiscard]] const std::vector<std::uint64_t>& batches() const noexcept { return batches_; }
  [[nodiscard]] double mean_batch() const noexcept;
  /// From the first frame to the last event.
  [[nodiscard]] std::int64_t span_ns() const noexcept { return last_ns_ - first_ns_; }
  /// The share of that time in which at least one worker ran.
  [[nodiscard]] double busy_ratio() const noexcept;
  /// How many workers ran on average.
  [[nodiscard]] double mean_busy_workers() const noexcept;
  /// Frames delivered in time, a second.
  [[nodiscard]] double goodput_per_s() const noexcept;
  [[nodiscard]] double delivered_per_s() const noexcept;

  /// `in_flight` comes from who holds the frames, so that the check can fail.
  [[nodiscard]] SelfCheck counts(std::uint64_t in_flight) const;
  [[nodiscard]] SelfCheck littles_law() const;
  [[nodiscard]] SelfCheck stage_sum() const;

 private:
  void advance(std::int64_t now_ns);
  [[nodiscard]] double per_s(std::uint64_t frames) const noexcept;

  FlowCounters counters_;
  StageTimes stages_;
  std::vector<std::uint64_t> batches_;
  std::uint64_t started_ = 0;   ///< batches
  std::uint64_t executed_ = 0;  ///< frames in them
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::uint64_t inside_ = 0;
  std::uint32_t busy_ = 0;
  double inside_times_ns_ = 0;  ///< integral of inside_ over time
  double busy_ns_ = 0;
  double worker_busy_ns_ = 0;
  double time_inside_ns_ = 0;  ///< of all frames that left
};

}  // namespace ridgeline::stream
