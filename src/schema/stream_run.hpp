// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/environment.hpp"
#include "schema/run.hpp"
#include "schema/stream_spec.hpp"
#include "schema/stream_status.hpp"

namespace ridgeline::schema {

/// What a stream was asked for.
struct StreamRequest {
  std::vector<std::string> arguments;
  StreamSpec spec;
  std::string output;        ///< file of the results; "-": standard output; "": nowhere
  std::string settings_run;  ///< of ridgeline tune, whose settings were taken; "": none
  double most_drops = 1;     ///< share of the frames, above which a bench ends with 1
};
RL_DECLARE_JSON(StreamRequest)

/// A second of a run, or what was left of it.
struct StreamMoment {
  double at_s = 0;  ///< its end, since the pipeline was ready
  double offered_per_s = 0;
  double delivered_per_s = 0;
  double dropped_per_s = 0;
  double queued = 0;  ///< at its end
};
RL_DECLARE_JSON(StreamMoment)

/// What a bench says of its limits.
struct StreamVerdict {
  bool passed = true;
  std::vector<std::string> reasons;  ///< that it did not
};
RL_DECLARE_JSON(StreamVerdict)

/// One run of `ridgeline stream`.
struct StreamRun {
  static constexpr RunLayout kLayout{"stream", "settings", "verdict"};

  std::string id;
  std::string command_line;
  std::string started_utc;
  std::string finished_utc;
  double duration_s = 0;
  bool interrupted = false;
  StreamRequest request;
  std::optional<Environment> environment;
  std::vector<RunTrial> trials;  ///< none
  StreamReady ready;
  StreamStatus status;
  std::vector<StreamMoment> moments;
  std::int64_t lost = 0;  ///< frames that were in the pipeline when its process died
  std::string error;      ///< that ended it; "": its sources did, or the user
  std::string error_hint;
  std::vector<std::string> notes;
  std::optional<StreamVerdict> verdict;  ///< of a bench
};
RL_DECLARE_JSON(StreamRun)

[[nodiscard]] Run to_run(const StreamRun& run);

/// "video.mp4", "4 sources".
[[nodiscard]] std::string stream_subject(const StreamRun& run);

}  // namespace ridgeline::schema
