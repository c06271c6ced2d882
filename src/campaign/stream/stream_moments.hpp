// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/stream_run.hpp"
#include "stats/latency_histogram.hpp"

namespace ridgeline::campaign {

/// Makes one point a second of what a pipeline tells more often, of two after the first 4096 and so on, so that a run
/// of days stays small.
class StreamMoments {
 public:
  /// A frame that was delivered.
  void add_frame(double latency_ms);
  /// `gpu`: as it is now.
  void add(const schema::StreamStatus& status, const std::optional<schema::StreamGpu>& gpu);
  /// The last whole second.
  [[nodiscard]] const schema::StreamMoment& recent() const noexcept { return recent_; }
  /// With what is left since the last point.
  [[nodiscard]] std::vector<schema::StreamMoment> take(const schema::StreamStatus& last);

 private:
  void close(const schema::StreamStatus& status);
  void keep();

  std::vector<schema::StreamMoment> moments_;
  std::vector<schema::StreamMoment> pending_;  ///< seconds of the next point
  std::size_t stride_ = 1;                     ///< seconds of a point
  schema::StreamMoment recent_;
  std::optional<schema::StreamGpu> gpu_;
  stats::LatencyHistogram latency_;  ///< since the last second
  schema::StreamStatus before_;
};

}  // namespace ridgeline::campaign
