// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/environment.hpp"
#include "schema/message.hpp"
#include "schema/run_envelope.hpp"

namespace ridgeline::schema {

/// What a list of runs says of one, in a line.
struct RunLine {
  std::string subject;          ///< what was measured: "det.onnx", "python train:make", the command of a sweep
  std::string provider;         ///< "" where the kind knows none
  std::string device;           ///< "" where the kind knows none
  std::string objective;        ///< "latency", "samples/s", "max:accuracy"
  std::string decision;         ///< "change", "keep", "none"; "" without an answer
  Message answer;               ///< "change, 1.95x", "batch 64, 2 workers"; empty without one
  std::optional<double> value;  ///< of the recommendation: gain of a change, samples/s, the objective
};
RL_DECLARE_JSON(RunLine)

/// A trial's place in a run of any kind; the outcome is stored under its key.
struct RunTrial {
  int id = 0;  ///< 1, 2, 3 ... within the run; people write run/id
  std::string key;
  std::string stage;
  base::Json settings;   ///< of the kind's own form
  bool cached = false;   ///< answered without measuring again
  double started_s = 0;  ///< since the run began
  Message reason;
  base::Json details;  ///< what only its kind knows
};
RL_DECLARE_JSON(RunTrial)

/// What a run of any kind is when it is stored, listed and passed on. What only its kind knows stands in `request`,
/// `answer` and `details`, in the kind's own form.
struct Run : RunEnvelope {
  std::string kind;  ///< "tune", "bench", "sweep"
  RunLine line;
  base::Json request;  ///< what was asked
  std::vector<Environment> environments;
  std::vector<RunTrial> trials;
  base::Json answer;   ///< null without one
  base::Json details;  ///< what else was found
};
RL_DECLARE_JSON(Run)

/// A run in a list.
struct RunSummary {
  std::string id;
  std::string kind;
  std::string started_utc;
  RunLine line;
  int trials = 0;
  double duration_s = 0;
  bool finished = false;
};

/// Whether the times of a run follow a formula (`tune synthetic:OPTIONS`, `bench --model synthetic`): every place that
/// shows it says so.
[[nodiscard]] bool is_simulated(std::string_view kind, const RunLine& line);

/// Where a kind's own JSON form has what the envelope has by one name.
struct RunLayout {
  std::string_view kind;
  std::string_view settings;  ///< of a trial: "configuration"
  std::string_view answer;    ///< "verdict"
};

/// The envelope of a run in its kind's own JSON form, and back.
[[nodiscard]] Run wrap_run(const RunLayout& layout, base::Json own, RunLine line);
[[nodiscard]] base::Json unwrap_run(const RunLayout& layout, const Run& run);

/// The run in its kind's own type, which has `static constexpr RunLayout kLayout`. Errors: invalid_argument (a run of
/// another kind), corrupt.
template <typename T>
[[nodiscard]] base::Result<T> run_as(const Run& run) {
  if (run.kind != T::kLayout.kind)
    return base::fail(base::ErrorCode::invalid_argument, "run {} is one of ridgeline {}, expected one of ridgeline {}",
                      run.id, run.kind, T::kLayout.kind);
  return base::json_as<T>(unwrap_run(T::kLayout, run), "run " + run.id);
}

}  // namespace ridgeline::schema
