// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "schema/gpu_telemetry.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

enum class StopReason { interval_reached, time_budget, run_limit, fixed_runs, stopped_early, cancelled };

enum class FlagLevel { info, notice, data_loss, error };

/// Something a reader should know about a measurement ("not steady after warm-up"). Ranking refuses `error`.
struct QualityFlag {
  FlagLevel level = FlagLevel::info;
  std::string code;  ///< stable identifier: "not_steady", "few_samples", "throttled"
  Message message;
};

[[nodiscard]] bool has_flag(const std::vector<QualityFlag>& flags, std::string_view code) noexcept;

/// Of a trial that computed with denormal numbers.
inline constexpr std::string_view kMetDenormals = "denormals";
/// Of a comparison: other processes disturbed it so often that what they disturbed had to count.
inline constexpr std::string_view kOthersThroughout = "others_throughout";
/// Of a comparison: the machine was notably slower than at its quietest, which may hit one arm more than the other, so
/// that it shows no two configurations to be alike.
inline constexpr std::string_view kSlowStretch = "slow_stretch";

/// Of a trial that compiled: the cache was empty before it, so that it took as long as on a new machine.
inline constexpr std::string_view kColdCompile = "cold_compile";
/// Of a trial that compiled: the cache had kernels, but no graph of it.
inline constexpr std::string_view kCompiledAnew = "compiled_anew";
/// What a trial of a PyTorch model was seen to run as.
inline constexpr std::string_view kRanAs = "ran_as";

/// What ran, asked of the process and of the runtime; its settings may say otherwise.
struct RanOn {
  std::vector<std::string> libraries;         ///< files of the runtime and its providers that the process had mapped
  std::map<std::string, std::int64_t> nodes;  ///< of the graph by who ran them, as the runtime calls it; empty: unknown
  std::int64_t parts = 0;  ///< that the trial's provider took, each with copies at its borders; 0: unknown
};

/// What one trial observed. Raw samples are kept so that statistics can be redone.
struct Measurement {
  std::vector<double> latency_ns;  ///< per inference, in order of completion, all callers together
  double wall_ns = 0;              ///< of the timed window
  double items_per_inference = 1;  ///< the batch size
  int concurrency = 1;             ///< sessions running side by side
  double session_create_ns = 0;    ///< summed over sessions
  double first_run_ns = 0;
  std::int64_t warmup_runs = 0;
  double warmup_ns = 0;
  StopReason stop_reason = StopReason::run_limit;
  std::int64_t peak_rss_bytes = 0;  ///< of the worker, high-water mark reset before the trial where the kernel allows
  std::vector<QualityFlag> flags;
  std::map<std::string, std::string> effective_settings;  ///< read back from the runtime, by parameter key
  std::map<std::string, double> metrics;                  ///< further MetricDef keys
  RanOn ran_on;                                           ///< empty where the workload does not tell
  std::optional<GpuTelemetry> gpu;                        ///< trials on a GPU whose management library answers

  /// Inferences a second over the timed window times items; 0 when nothing was timed.
  [[nodiscard]] double throughput_per_s() const noexcept {
    return wall_ns > 0 ? static_cast<double>(latency_ns.size()) * items_per_inference / (wall_ns * 1e-9) : 0;
  }
};

/// How the outputs of a reference change from call to call with the same inputs. Those below are judged by their
/// distribution over calls, not element by element.
struct CallVariation {
  std::vector<std::string> outputs;  ///< that change by more than rounding does
  std::int64_t calls = 0;            ///< that what is known of their distribution rests on
  /// Each new session of a process gives the same outputs call by call: of a seed, which ONNX Runtime keeps for the
  /// process where the model names none, or of state.
  bool repeats = false;
  Message trend;         ///< "output "y" grows with each call": what a state does; empty: there is none
  std::string unjudged;  ///< an output whose values have no distribution, as they are text; "": none
};
RL_DECLARE_JSON(CallVariation)

enum class OutputStatistic { elements, mean, standard_deviation, magnitude, agreement, distance };

/// The statistic by which the outputs that change from call to call lie furthest from the reference's, each taken of
/// every call.
struct SpreadError {
  double distance = 0;     ///< of its mean over calls, in standard errors as the reference's calls scatter
  double relative = 0;     ///< the same as a share of the output's magnitude
  std::int64_t calls = 0;  ///< of the reference, and of the trial
  std::string output;
  OutputStatistic statistic = OutputStatistic::mean;
  double found = 0;
  double reference = 0;
};
RL_DECLARE_JSON(SpreadError)

/// Distance of a candidate's outputs from the reference configuration's, over all output elements.
struct OutputError {
  double max_abs = 0;         ///< largest |a-b| over pairs finite in both
  double max_rel = 0;         ///< largest |a-b| / max(|b|, tiny share of the output's largest magnitude)
  double scaled_max_abs = 0;  ///< largest over outputs of max|a-b| / max(max|b|, floor): what the tolerance applies to
  double cosine = 1;          ///< smallest over outputs of real numbers
  std::int64_t elements = 0;
  std::int64_t nan_mismatches = 0;  ///< NaN or Inf in one but not in the other
  std::int64_t nonfinite = 0;       ///< NaN or Inf in the candidate's outputs
  bool shape_mismatch = false;
  std::int64_t tiny_outputs = 0;  ///< real outputs whose reference stays below the floor (1e-3; 1e-2 for 16 bits): they
                                  ///< say little, real inputs would say more
  std::string worst_output;
  std::optional<double> metric{};  ///< the user's own of these outputs, higher is better; unset: none, or not finite
  bool metric_not_finite = false;
  std::optional<SpreadError> spread{};  ///< of outputs that change from call to call, which count above by form only
  std::optional<CallVariation> variation{};  ///< of a reference; unset: none of its outputs changes
};

/// One block of an interleaved comparison.
struct PairedBlock {
  char arm = 'A';
  std::vector<double> latency_ns;
  double wall_ns = 0;
  int round = 0;  ///< of the pair of sessions; arm A's was made first in even ones, arm B's in odd ones
  /// CPUs that other processes took from it while none was idle, over its ABBA round; 0: none, or unknown.
  double taken = 0;
};
inline void to_json(base::Json& out, const PairedBlock& block) {
  out = {{"arm", std::string(1, block.arm)},
         {"latency_ns", block.latency_ns},
         {"wall_ns", block.wall_ns},
         {"round", block.round}};
  if (block.taken > 0) out["taken"] = block.taken;
}
inline void from_json(const base::Json& in, PairedBlock& block) {
  block.arm = in.at("arm").get<std::string>().at(0);
  in.at("latency_ns").get_to(block.latency_ns);
  in.at("wall_ns").get_to(block.wall_ns);
  block.round = in.value("round", 0);
  block.taken = in.value("taken", 0.0);
}

/// Blocks in the order they ran: A B B A A B B A ...
struct PairedMeasurement {
  std::vector<PairedBlock> blocks;
  double items_per_inference_a = 1;
  double items_per_inference_b = 1;
  std::vector<QualityFlag> flags;
  double blocks_s = 0;  ///< that the blocks took, pauses and discarded inferences included
  int rounds = 0;       ///< pairs of sessions that were made for it; 0: of sessions that were there before
};

/// CPUs taken by others from which on an ABBA round of blocks is set aside.
inline constexpr double kTakenCpus = 0.25;

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::StopReason> {
  using enum schema::StopReason;
  static constexpr std::array names{std::pair{interval_reached, "interval_reached"},
                                    std::pair{time_budget, "time_budget"},
                                    std::pair{run_limit, "run_limit"},
                                    std::pair{fixed_runs, "fixed_runs"},
                                    std::pair{stopped_early, "stopped_early"},
                                    std::pair{stopped_early, "abandoned"},
                                    std::pair{cancelled, "cancelled"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::FlagLevel> {
  using enum schema::FlagLevel;
  static constexpr std::array names{std::pair{info, "info"}, std::pair{notice, "notice"},
                                    std::pair{data_loss, "data_loss"}, std::pair{error, "error"}};
};

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::OutputStatistic> {
  using enum schema::OutputStatistic;
  static constexpr std::array names{std::pair{elements, "number of elements"},
                                    std::pair{mean, "mean"},
                                    std::pair{standard_deviation, "standard deviation"},
                                    std::pair{magnitude, "mean magnitude"},
                                    std::pair{agreement, "agreement with the mean output"},
                                    std::pair{distance, "distance from the mean output"}};
};

namespace ridgeline::schema {

RL_DECLARE_JSON(QualityFlag)
RL_DECLARE_JSON(RanOn)
RL_DECLARE_JSON(Measurement)
/// Without `spread` and `variation` where there are none.
void to_json(base::Json& out, const OutputError& error);
void from_json(const base::Json& in, OutputError& error);
RL_DECLARE_JSON(PairedMeasurement)

}  // namespace ridgeline::schema
