// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/accuracy_gate.hpp"
#include "schema/candidate.hpp"
#include "schema/configuration.hpp"
#include "schema/environment.hpp"
#include "schema/execution_provider.hpp"
#include "schema/gpu_ceilings.hpp"
#include "schema/message.hpp"
#include "schema/model_description.hpp"
#include "schema/run.hpp"
#include "schema/run_envelope.hpp"
#include "schema/runtime_graph.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "schema/tune_request.hpp"
#include "stats/interval.hpp"

namespace ridgeline::schema {

/// A parameter, or some of its values, left out of the search, and why.
struct PrunedParam {
  std::string key;
  std::vector<Value> values;  ///< empty: the whole parameter
  Message reason;
};
RL_DECLARE_JSON(PrunedParam)

/// A verdict on two configurations. ratio = B over A in the objective's value, turned so that above 1 means B is better
/// (latency A/B, throughput B/A).
enum class Verdict {
  faster,         ///< B better: the interval excludes 1 and the ratio reaches the minimum effect
  slower,         ///< B worse, likewise
  no_difference,  ///< the interval lies within the minimum effect, or the effect is below it
  inconclusive,   ///< the interval is too wide to say
};

struct Comparison {
  double ratio = 1;
  double low = 1;  ///< 95 % interval
  double high = 1;
  double p_value = 1;
  int abba_rounds = 0;
  Verdict verdict = Verdict::inconclusive;
  double tail = 0;  ///< objective p99: the quantile that the samples support and the ratio is of, 0.99 where there are
                    ///< enough; 0: another objective, or stored before this was recorded
};

/// The cost of a trial (analysis::Cost) as it would have been while the machine was quiet, with a 95 % interval: its
/// own over the machine's speed at that moment, or by the reference configuration's where the two were interleaved.
struct CorrectedCost : stats::Estimate {
  bool interleaved = false;
};

/// What the reference configuration cost at a moment.
struct SpeedReading {
  double at_s = 0;  ///< middle of the timed window, since the run began
  double cost = 0;  ///< analysis::Cost, in ns, with a 95 % interval
  double low = 0;
  double high = 0;
};

/// Of one device slot.
struct SpeedTrack {
  std::string device;  ///< TrialSpec::device
  std::vector<SpeedReading> readings;
};

/// How fast the machine was over a run.
struct SpeedRecord {
  Configuration reference;  ///< what was timed again now and then
  std::vector<SpeedTrack> tracks;
  int taken_again = 0;  ///< trials that were measured more than once, because the machine had changed under them
};

enum class TrialStage { current, baseline, screening, search, finalist };

/// A trial's place in a run.
struct TunedTrial {
  int id = 0;  ///< 1, 2, 3 ... within the run; people write run/id
  TrialStage stage = TrialStage::search;
  std::string key;  ///< TrialSpec::key: where the outcome is stored
  Configuration configuration;
  bool cached = false;                       ///< answered without measuring again
  double started_s = 0;                      ///< since the run began
  Message reason;                            ///< why the searcher tried it
  std::optional<CorrectedCost> corrected{};  ///< unset where the reference said nothing of that moment
  int takes = 1;                             ///< measurements in this run; the last one counts
  std::string device{};                      ///< TrialSpec::device where it is not the run's; else ""
};

enum class PairPurpose {
  finalist,       ///< current configuration against a finalist
  leave_one_out,  ///< the winner against the winner with one setting back at the current value
  head_to_head,   ///< one against another that may be as fast: nearest trials, the winner with and without settings
  retake,         ///< the reference configuration against a trial, shortly, as the machine had changed under it
  candidate,      ///< current configuration against another candidate at its defaults, shortly
};

struct TunedPair {
  PairPurpose purpose = PairPurpose::finalist;
  std::string key;  ///< PairedSpec::key
  Configuration a;
  Configuration b;
  std::string setting;  ///< leave_one_out: the parameter
  TrialStatus status = TrialStatus::ok;
  std::optional<Comparison> comparison;
  Message failure;  ///< when status is not ok
  bool cached = false;
  std::vector<QualityFlag> flags{};  ///< of the measurement
};

enum class Decision { change, keep, none };

/// A value of config.yaml that the recommendation changes.
struct SettingChange {
  std::string key;            ///< of the catalogue, or "provider"
  std::optional<Value> from;  ///< what the file has; nullopt: it has no such key
  std::optional<Value> to;    ///< what is written; nullopt: the key has to be taken out by hand, as its default has no
                              ///< spelling
};
RL_DECLARE_JSON(SettingChange)

/// The run's answer.
struct TuneVerdict {
  Decision decision =
      Decision::none;           ///< change: apply `configuration`; keep: what you have is as good; none: nothing ran
  Configuration configuration;  ///< the recommended one (keep: the current)
  int trial_id = 0;
  std::optional<Comparison> gain;  ///< recommended against current, interleaved
  std::vector<int> tied_with;      ///< trial ids that are as good as the best
  Message reason;
  bool undecided = false;  ///< keep, because nothing was tried or decided, not because nothing is faster
  /// Settings of `configuration` that stay because neither they nor their absence was shown to be as good.
  std::vector<std::string> unproven{};
  /// TrialSpec::key of `configuration` measured alone (TrialSpec::isolated), which no ranking holds; "": it was not.
  std::string isolated_key{};
  std::string isolated_current_key{};  ///< the same of the current configuration
  std::optional<LoadingCode> code{};   ///< of `configuration`; unset where what is tuned has none, or older
  /// What a config.yaml that means TuneRun::current gets; unset in the records of earlier versions.
  std::optional<std::vector<SettingChange>> changes{};
};

/// What the time of a run went to, in seconds: all until the first trial, the trials, the comparisons that decide, and
/// what follows them.
struct TimeSpent {
  double preparation_s = 0;  ///< before the first trial: runtimes, model, exports, reference outputs
  double trials_s = 0;
  double comparisons_s = 0;            ///< that decide
  double answer_s = 0;                 ///< what explains the answer, and running its code
  std::optional<double> forecast_s{};  ///< of the whole run, once the first trials had shown what one takes; unset: the
                                       ///< run was shorter than any forecast
};

/// A configuration that usually is among the fastest, and that the run had no time to try.
struct UntriedConfiguration {
  Configuration configuration;
  std::optional<double> made_for_s{};  ///< it was being compiled for this long when the time was up; unset: not begun
};

/// One `ridgeline tune` as recorded: enough to rebuild every report without running anything.
struct TuneRun : RunEnvelope {
  static constexpr RunLayout kLayout{"tune", "configuration", "verdict"};

  bool cut_short = false;  ///< --max-time ended the search before it had finished
  TuneRequest request;
  /// What OutputError::scaled_max_abs may be; 0: outputs were not judged, by --accuracy-tolerance off or in older
  /// runs because they were all integers, bools or text.
  double accuracy_tolerance = 0;
  std::optional<AccuracyGate> accuracy_gate{};  ///< unset: the tolerance alone
  /// Outputs of the reference that change from call to call, which are judged by their distribution; unset: none.
  std::optional<CallVariation> call_variation{};
  std::string provider = "cpu";
  std::string tensor_location = "host";  ///< TrialSpec::tensor_location of every trial
  std::string device;
  Environment environment;
  ModelDescription model;
  WorkloadRef workload;
  RuntimeIdentity runtime;
  std::optional<ProviderPlugin> plugin{};  ///< of `provider`, where the runtime does not carry it
  /// Beside what `runtime`, `provider` and `device` say, which is the first of them; empty: nothing else was tried.
  std::vector<Candidate> candidates{};
  MeasurementPlan plan;                      ///< the request's, for longer where the GPU or a limit asks for it
  Configuration current;                     ///< from config.yaml; empty: the defaults
  std::vector<std::string> current_origins;  ///< "config.yaml:12 intra_op_num_threads = 4", for people
  Configuration in_file{};                   ///< all that config.yaml holds, also what means nothing to this run
  std::string file_provider{};               ///< the execution provider that it names, as spelled there; "": none
  std::vector<Dimension> space;
  double space_size = 0;  ///< configurations in the full grid
  std::vector<PrunedParam> pruned;
  std::vector<TunedTrial> trials;
  std::vector<TunedPair> pairs;
  std::optional<TuneVerdict> verdict;
  std::optional<GpuCeilings> gpu_ceilings{};   ///< of the GPU tuned on; nullopt: not probed
  std::vector<RuntimeGraph> runtime_graphs{};  ///< one a level that was looked at
  std::optional<SpeedRecord> speed{};          ///< unset: the reference was not timed again
  std::optional<TimeSpent> time_spent{};       ///< unset: in older runs, and where nothing was measured
  std::vector<UntriedConfiguration> untried{};

  [[nodiscard]] bool on_gpu() const { return runs_on_gpu(provider); }
};

/// Whether the search was a quick one, whose answer holds no setting that nothing proved.
[[nodiscard]] inline bool is_quick(const TuneRun& run) noexcept { return run.request.search == "quick"; }

/// TrialSpec::device of a trial.
[[nodiscard]] inline const std::string& device_of(const TuneRun& run, const TunedTrial& trial) noexcept {
  return trial.device.empty() ? run.device : trial.device;
}

}  // namespace ridgeline::schema

#define RL_NAMES(Enum, ...)                                    \
  template <>                                                  \
  struct ridgeline::base::EnumNames<ridgeline::schema::Enum> { \
    using enum schema::Enum;                                   \
    static constexpr std::array names{__VA_ARGS__};            \
  }
RL_NAMES(Verdict, std::pair{faster, "faster"}, std::pair{slower, "slower"}, std::pair{no_difference, "no_difference"},
         std::pair{inconclusive, "inconclusive"});
RL_NAMES(TrialStage, std::pair{current, "current"}, std::pair{baseline, "baseline"}, std::pair{screening, "screening"},
         std::pair{search, "search"}, std::pair{finalist, "finalist"});
RL_NAMES(PairPurpose, std::pair{finalist, "finalist"}, std::pair{leave_one_out, "leave_one_out"},
         std::pair{head_to_head, "head_to_head"}, std::pair{head_to_head, "duel"}, std::pair{retake, "retake"},
         std::pair{candidate, "candidate"});
RL_NAMES(Decision, std::pair{change, "change"}, std::pair{keep, "keep"}, std::pair{none, "none"});
#undef RL_NAMES

namespace ridgeline::schema {

RL_DECLARE_JSON(Comparison)
RL_DECLARE_JSON(CorrectedCost)
RL_DECLARE_JSON(SpeedReading)
RL_DECLARE_JSON(SpeedTrack)
RL_DECLARE_JSON(SpeedRecord)
RL_DECLARE_JSON(TunedTrial)
RL_DECLARE_JSON(TunedPair)
RL_DECLARE_JSON(TuneVerdict)
RL_DECLARE_JSON(TimeSpent)
RL_DECLARE_JSON(UntriedConfiguration)
RL_DECLARE_JSON(TuneRun)

[[nodiscard]] Run to_run(const TuneRun& run);
/// What lists call a run's model: its file name, or "synthetic:OPTIONS".
[[nodiscard]] std::string model_name(const TuneRun& run);

/// Whether its times follow a formula; is_simulated of its summary is the same.
[[nodiscard]] inline bool is_simulated(const TuneRun& run) { return run.workload.kind == "synthetic"; }

}  // namespace ridgeline::schema
