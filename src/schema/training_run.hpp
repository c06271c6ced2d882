// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/environment.hpp"
#include "schema/message.hpp"
#include "schema/run.hpp"
#include "schema/run_envelope.hpp"
#include "schema/run_request.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::schema {

/// The values that `ridgeline bench` may combine, each list ascending and without repeats.
struct TrainingSpace {
  std::vector<std::int64_t> batches;
  std::vector<int> workers;
  std::vector<AmpMode> amps;
  std::vector<bool> pins;
  [[nodiscard]] std::size_t size() const noexcept {
    return batches.size() * workers.size() * amps.size() * pins.size();
  }
  friend bool operator==(const TrainingSpace&, const TrainingSpace&) = default;
};
RL_DECLARE_JSON(TrainingSpace)

/// What a `ridgeline bench` was asked for, as it is stored.
struct BenchRequest : RunRequest {
  TrainingJob job;
  std::string search = "adaptive";
  TrainingSpace space;
  TrainingPlan plan;
  double tolerance = 0.03;
  double headroom = 0.10;            ///< share of the device's memory that the recommended settings leave free
  std::int64_t stability_steps = 0;  ///< 0: no stability run
  /// Of seconds that a stability run nobody asked for may be timed: search and repeats leave it less of --max-time than
  /// one that was asked for. nullopt: it was.
  std::optional<double> short_stability_s;
  bool diagnose = true;
};
RL_DECLARE_JSON(BenchRequest)

/// Why a training trial was made.
enum class BenchStage {
  sweep,          ///< grid: one of all combinations
  compute,        ///< adaptive: a point of the compute curve
  loading,        ///< adaptive: a point of the loader curve
  confirm,        ///< adaptive: a predicted optimum or its neighbour
  bisect,         ///< between the largest batch that fits and the smallest that does not
  repeat,         ///< a leader, measured again in counterbalanced order
  experiment,     ///< for the diagnosis
  stability_run,  ///< the recommended settings, for long
};

/// A trial's place in a run.
struct BenchTrial {
  int id = 0;  ///< 1, 2, 3 ... within the run
  BenchStage stage = BenchStage::sweep;
  std::string key;  ///< TrainingTrialSpec::key: where the outcome is stored
  TrainingSettings settings;
  DataMode data = DataMode::loader;
  int repeat = 0;
  bool cached = false;
  double started_s = 0;  ///< since the run began
  Message reason;
  TrainingOutcome outcome;  ///< as measured; kept here too, so that a run's record is whole by itself
};

/// A combination that was not run, and why.
struct SkippedSettings {
  TrainingSettings settings;
  Message reason;
};
RL_DECLARE_JSON(SkippedSettings)

/// A setting that was chosen, with the numbers it was chosen by: means over all its loader trials of the run.
struct BenchAnswer {
  TrainingSettings settings;
  std::vector<int> trials;  ///< their ids
  double samples_per_s = 0;
  double low = 0;  ///< 95 % interval
  double high = 0;
  std::optional<double> memory_gb;  ///< peak reserved
  Message reason;
  Message off_front;  ///< why it is not on the Pareto front; empty: it is
};

/// Each answer can be computed again from the trials: see docs/bench.md.
struct BenchAnswers {
  std::optional<BenchAnswer> fastest;      ///< highest samples/s
  std::optional<BenchAnswer> efficient;    ///< most samples/s a GB
  std::optional<BenchAnswer> recommended;  ///< least memory, then fewest workers, within `tolerance` of the fastest
  std::vector<TrainingSettings> pareto;    ///< not beaten in samples/s, memory and workers at once
  std::vector<TrainingSettings> ties;      ///< cannot be distinguished from the fastest (intervals overlap)
  double tolerance = 0.03;
  double headroom = 0.10;            ///< share of the device's memory that the recommended settings leave free
  double floor = 0;                  ///< samples/s that the recommended settings had to reach
  bool fallback = false;             ///< that is by the fastest eligible setting, as none comes near the fastest of all
  std::int64_t stability_steps = 0;  ///< that were asked for; 0: no stability run
  Message no_recommendation;         ///< why there is none; empty: there is one
};

/// One cause found, by which experiment, and what to change.
struct BenchFinding {
  std::string code;  ///< "decode_bound", "too_few_workers" ...
  Message title;
  Message evidence;                      ///< the experiment and its numbers
  Message advice;                        ///< the setting to change
  std::optional<double> predicted_gain;  ///< 0.25: 25 % more samples/s
  std::vector<int> trials;
  TrainingSettings settings;  ///< under which it was found
};

/// A value of the request and where it came from.
struct BenchOrigin {
  std::string name;
  std::string value;  ///< as typed or found; of "reading" the words of the loader
  Message origin;     ///< "bench.yaml:3", "--batch-sizes", "default"
};

/// One `ridgeline bench` as recorded: every table, answer and report can be rebuilt from it.
struct BenchRun : RunEnvelope {
  static constexpr RunLayout kLayout{"bench", "settings", "answers"};

  Message interruption;  ///< why it ended early; empty: it did not
  BenchRequest request;
  std::string device = "cpu";
  std::string device_id;
  Environment environment;
  TrainingSettings current;  ///< what the user trains with now
  bool has_current = false;  ///< false: not known, `current` is the default
  std::vector<BenchOrigin> origins;
  std::vector<BenchTrial> trials;
  std::vector<SkippedSettings> skipped;
  std::optional<BenchAnswers> answers;
  std::vector<BenchFinding> findings;
};

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::BenchStage> {
  using enum schema::BenchStage;
  static constexpr std::array names{std::pair{sweep, "sweep"},           std::pair{compute, "compute"},
                                    std::pair{loading, "loading"},       std::pair{confirm, "confirm"},
                                    std::pair{bisect, "bisect"},         std::pair{repeat, "repeat"},
                                    std::pair{experiment, "experiment"}, std::pair{stability_run, "stability_run"},
                                    std::pair{stability_run, "soak"}};
};

namespace ridgeline::schema {

RL_DECLARE_JSON(BenchTrial)
RL_DECLARE_JSON(BenchAnswer)
RL_DECLARE_JSON(BenchAnswers)
RL_DECLARE_JSON(BenchFinding)
RL_DECLARE_JSON(BenchOrigin)
RL_DECLARE_JSON(BenchRun)

[[nodiscard]] Run to_run(const BenchRun& run);

}  // namespace ridgeline::schema
