// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/stream_run.hpp"

namespace ridgeline::campaign {

/// Makes one point a second of what a pipeline tells more often, of two after the first 4096 and so on, so that a run
/// of days stays small.
class StreamMoments {
 public:
  void add(const schema::StreamStatus& status);
  /// With what is left since the last point.
  [[nodiscard]] std::vector<schema::StreamMoment> take(const schema::StreamStatus& last);

 private:
  void close(const schema::StreamStatus& status);
  void thin();

  std::vector<schema::StreamMoment> moments_;
  double interval_s_ = 1;
  schema::StreamStatus before_;
};

}  // namespace ridgeline::campaign
