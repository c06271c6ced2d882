// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "monitor/stream_history.hpp"
#include "schema/stream_progress.hpp"

namespace ridgeline::monitor {

/// What the screen of a stream and its metrics show.
struct StreamView {
  std::string subject;  ///< "bikes.mp4", "4 sources: bikes.mp4"
  std::string model;    ///< "det.onnx"
  std::string load;     ///< that a bench offers; "" of a run
  double slo_ms = 0;    ///< 0: none
  schema::StreamReady ready;
  schema::StreamProgress progress;
  StreamHistory history;
  std::vector<std::string> notes;
  bool is_stopping = false;
};

}  // namespace ridgeline::monitor
