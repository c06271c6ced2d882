// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schema/environment.hpp"
#include "schema/message.hpp"
#include "schema/run.hpp"
#include "schema/run_envelope.hpp"
#include "schema/run_request.hpp"
#include "schema/trial_outcome.hpp"
#include "stats/interval.hpp"

namespace ridgeline::schema {

/// A parameter of a command and the texts that its placeholder may be replaced with, in the user's order: the first is
/// what the others are compared with, and of equals the earlier one is preferred.
struct SweepParam {
  std::string name;
  std::vector<std::string> values;
};
RL_DECLARE_JSON(SweepParam)

enum class SweepSource { regex, json };
enum class SweepTake { last, first, median, mean, min, max, sum };

/// A number that a command prints: by a regular expression a line (the first group, or the whole match), or by a key of
/// JSON lines ("a.b" is b inside a). `take` says which of several.
struct SweepMetric {
  std::string name;
  SweepSource source = SweepSource::regex;
  std::string pattern;
  SweepTake take = SweepTake::last;
};

struct SweepObjective {
  std::string metric = "seconds";
  bool maximize = false;
  [[nodiscard]] std::string to_text() const { return (maximize ? "max:" : "min:") + metric; }
};
RL_DECLARE_JSON(SweepObjective)

/// What is run, before placeholders are replaced.
struct SweepJob {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<SweepParam> parameters;
  std::vector<SweepMetric> metrics;
  std::string metric_file;           ///< read after each trial; "": the one in RIDGELINE_METRICS_FILE
  std::string directory;             ///< where it runs
  double timeout_s = 0;              ///< of one trial; 0: none
  std::vector<std::string> depends;  ///< files that decide what the command does, besides those among its arguments
};

/// What a `ridgeline sweep` was asked for, as it is stored.
struct SweepRequest : RunRequest {
  SweepJob job;
  SweepObjective objective;
  std::string search = "grid";  ///< grid, adaptive, random
  std::size_t trials = 40;      ///< combinations that random tries
  std::uint64_t seed = 1;
  int repeats = 3;  ///< rounds, the first included
  int warmups = 0;  ///< trials of the first combination that do not count
  double min_effect = 0.02;
  double tolerance = 0.03;
  bool keep_going = false;  ///< also when the first trials all fail alike
};
RL_DECLARE_JSON(SweepRequest)

/// Values by parameter name.
using SweepPoint = std::map<std::string, std::string>;

/// One trial to make.
struct SweepTrialSpec {
  SweepJob job;
  SweepPoint point;
  int repeat = 0;  ///< 0 is the first round
  std::string device_id;

  /// Which question it is: template, values, environment templates, metrics, folder, device and round. Neither the
  /// other values of a parameter nor limits take part. Whether a stored answer still holds is decided by its files.
  [[nodiscard]] std::string key() const;
};

/// A file that decided what the command did.
struct SweepFile {
  std::string path;
  std::string fingerprint;  ///< SHA-256; of a large file its size and modification time
};
RL_DECLARE_JSON(SweepFile)

/// What became of it. Numbers that are always there for an ok trial: seconds (wall time of the command); further ones
/// of ours, where they can be had: see own_metrics.
struct SweepOutcome {
  TrialStatus status = TrialStatus::ok;
  std::map<std::string, double> metrics;
  std::optional<Failure> failure;  ///< set unless ok
  std::string folder;              ///< output.log and metrics.txt
  std::vector<Message> notes;      ///< "2 processes were left behind and ended"
  std::string measured_utc;
  double duration_s = 0;
  double timeout_s = 0;  ///< the limit it ran under
  /// The program, files among its arguments and SweepJob::depends, less those that the command itself changed.
  std::vector<SweepFile> files;
};
RL_DECLARE_JSON(SweepOutcome)

enum class SweepStage { warmup, search, repeat };

struct SweepTrial {
  int id = 0;
  SweepStage stage = SweepStage::search;
  std::string key;
  SweepPoint point;
  int repeat = 0;
  bool cached = false;
  double started_s = 0;  ///< since the run began
  Message reason;
  SweepOutcome outcome;
};

/// All trials of one combination.
struct SweepSummary {
  SweepPoint point;
  std::vector<int> trials;  ///< ok ones
  int failed = 0;
  stats::Estimate objective;              ///< mean over the ok trials
  std::map<std::string, double> metrics;  ///< means
  /// How many times the best's cost (1.1: 10 % worse), or by how much worse when differences are compared; unset for
  /// failures.
  std::optional<stats::Estimate> behind;
  bool tie = false;       ///< cannot be distinguished from the best, or differs by less than the minimum effect
  int rank_in_lists = 0;  ///< sum of the places of its values in their lists
};
RL_DECLARE_JSON(SweepSummary)

/// How much a parameter matters: geometric mean of the cost over all combinations with that value, over the best
/// value's.
struct SweepEffect {
  std::string name;
  std::vector<std::pair<std::string, double>> values;
};
RL_DECLARE_JSON(SweepEffect)

struct SweepAnswers {
  SweepPoint best;
  SweepPoint
      recommended;  ///< among the ties within the tolerance of the best: whose values stand earliest in their lists
  Message reason;
  bool proven = false;  ///< repeated, so that differences could be distinguished from noise
  /// Recommended over the first combination: 1.2 is 20 % better, or better by 1.2 when differences are compared.
  std::optional<stats::Estimate> gain;
  std::vector<SweepEffect> effects;  ///< of full grids
};
RL_DECLARE_JSON(SweepAnswers)

/// One `ridgeline sweep` as recorded: every table, answer and report can be rebuilt from it.
struct SweepRun : RunEnvelope {
  static constexpr RunLayout kLayout{"sweep", "point", "answers"};

  Message interruption;  ///< why it ended early; empty: it did not
  SweepRequest request;
  double space_size = 0;
  Environment environment;
  std::string device_id;
  std::string folder;
  std::vector<SweepTrial> trials;
  std::vector<SweepSummary> points;
  std::optional<SweepAnswers> answers;
};

/// B - A of an objective that has no ratio, as some of its values are 0 or below.
struct SweepDifference {
  std::string metric;
  bool maximize = false;
  bool has_interval = false;  ///< both were measured at least twice
  stats::Estimate value;      ///< B - A in the metric's own unit, 95 % interval
};
RL_DECLARE_JSON(SweepDifference)

/// Names of the numbers that Ridgeline adds itself.
[[nodiscard]] const std::vector<std::string>& own_metrics();

/// "batch=64 workers=4" in the order of the parameters; "" without any.
[[nodiscard]] std::string point_text(const SweepPoint& point, const std::vector<SweepParam>& parameters);

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::SweepSource> {
  using enum schema::SweepSource;
  static constexpr std::array names{std::pair{regex, "regex"}, std::pair{json, "json"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::SweepTake> {
  using enum schema::SweepTake;
  static constexpr std::array names{std::pair{last, "last"}, std::pair{first, "first"}, std::pair{median, "median"},
                                    std::pair{mean, "mean"}, std::pair{min, "min"},     std::pair{max, "max"},
                                    std::pair{sum, "sum"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::SweepStage> {
  using enum schema::SweepStage;
  static constexpr std::array names{std::pair{warmup, "warmup"}, std::pair{search, "search"},
                                    std::pair{repeat, "repeat"}};
};

namespace ridgeline::schema {

RL_DECLARE_JSON(SweepMetric)
RL_DECLARE_JSON(SweepJob)
RL_DECLARE_JSON(SweepTrialSpec)
RL_DECLARE_JSON(SweepTrial)
RL_DECLARE_JSON(SweepRun)

[[nodiscard]] Run to_run(const SweepRun& run);

}  // namespace ridgeline::schema
