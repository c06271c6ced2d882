// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "schema/stream_run.hpp"
#include "stats/latency_histogram.hpp"

namespace ridgeline::campaign {

/// Makes one point a second of what a pipeline tells more often, of two after the first 4096 and so on, so that a run
/// of days stays small. A percentile is of as many frames as it needs (stats::samples_needed), at a low rate those of
/// several seconds: it is in the point in which it has them. The first second, which fills the pipeline, is apart.
class StreamMoments {
 public:
  /// A frame that was delivered.
  void add_frame(double latency_ms);
  /// `gpu`: as it is now.
  void add(const schema::StreamStatus& status, const std::optional<schema::StreamGpu>& gpu);
  /// The last whole second; percentiles as they were when there were last frames enough.
  [[nodiscard]] const schema::StreamMoment& recent() const noexcept { return recent_; }
  /// With what is left since the last point.
  [[nodiscard]] std::vector<schema::StreamMoment> take(const schema::StreamStatus& last);

 private:
  /// A percentile's frames since it was last known.
  struct Window {
    double quantile;
    std::optional<double> schema::StreamMoment::*member;
    stats::LatencyHistogram latency{};
  };

  void close(const schema::StreamStatus& status);
  void keep();

  std::vector<schema::StreamMoment> moments_;
  std::vector<schema::StreamMoment> pending_;  ///< seconds of the next point
  std::size_t stride_ = 1;                     ///< seconds of a point
  schema::StreamMoment recent_;
  std::optional<schema::StreamGpu> gpu_;
  stats::LatencyHistogram latency_;  ///< since the last second
  std::array<Window, 3> windows_{
      {{0.5, &schema::StreamMoment::p50}, {0.95, &schema::StreamMoment::p95}, {0.99, &schema::StreamMoment::p99}}};
  schema::StreamStatus before_;
};

}  // namespace ridgeline::campaign
