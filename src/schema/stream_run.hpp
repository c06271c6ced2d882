// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/environment.hpp"
#include "schema/run.hpp"
#include "schema/run_envelope.hpp"
#include "schema/stream_moment.hpp"
#include "schema/stream_spec.hpp"
#include "schema/stream_status.hpp"

namespace ridgeline::schema {

/// What a stream was asked for.
struct StreamRequest {
  std::vector<std::string> arguments;
  StreamSpec spec;
  std::string output;         ///< file of the results; "-": standard output; "": nowhere
  std::string settings_run;   ///< of ridgeline tune, whose settings were taken; "": none
  double most_drops = 1;      ///< share of the frames, above which a bench ends with 1
  std::vector<double> rates;  ///< of a bench that measures several in turn, rising; spec.load has the run's own
};
RL_DECLARE_JSON(StreamRequest)

/// What a bench says of its limits.
struct StreamVerdict {
  bool passed = true;
  std::vector<Message> reasons;      ///< that it did not
  std::optional<double> held_per_s;  ///< of several rates the highest that was held, with those below it; 0: none
};
RL_DECLARE_JSON(StreamVerdict)

/// One of several rates.
struct StreamPoint {
  double rate_per_s = 0;  ///< a source
  StreamStatus status;
  std::vector<StreamMoment> moments;
  StreamVerdict verdict;
};
RL_DECLARE_JSON(StreamPoint)

/// One run of `ridgeline stream`.
struct StreamRun : RunEnvelope {
  static constexpr RunLayout kLayout{"stream", "settings", "verdict"};

  StreamRequest request;
  std::optional<Environment> environment;
  std::vector<RunTrial> trials;  ///< none
  StreamReady ready;
  StreamStatus status;
  std::vector<StreamMoment> moments;
  std::int64_t lost = 0;                 ///< frames that were in the pipeline when its process died
  Message error;                         ///< that ended it; empty: its sources did, or the user
  std::optional<StreamVerdict> verdict;  ///< of a bench
  /// Of several rates all that were measured; ready, status and moments are those of the one that was held, or the
  /// lowest.
  std::vector<StreamPoint> points;

  /// Whether a load that was late is all that speaks against it, so that nothing is known of the pipeline: exit code 4.
  [[nodiscard]] bool is_void() const;
};
RL_DECLARE_JSON(StreamRun)

[[nodiscard]] Run to_run(const StreamRun& run);

/// Whether frames come when they come: a camera, a load of a rate, files at their own pace.
[[nodiscard]] bool is_paced(const StreamRun& run);
/// How many there are, copies included.
[[nodiscard]] std::size_t source_count(const StreamSpec& spec);

/// "video.mp4", "4 sources".
[[nodiscard]] std::string stream_subject(const StreamRun& run);

}  // namespace ridgeline::schema
