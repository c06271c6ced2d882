// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "analysis/ranking.hpp"
#include "base/random.hpp"
#include "fakes/words.hpp"
#include "schema/messages.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::fakes {

struct TuneRecords {
  schema::TuneRun run;
  analysis::OutcomesByKey outcomes;
  analysis::PairsByKey pairs;
};

/// Latencies as an idle machine gives them: log-normal around the median, a few spikes.
inline schema::Measurement fake_measurement(std::uint64_t seed, double median_ms, std::size_t count,
                                            double spread = 0.015) {
  base::Random random(seed);
  schema::Measurement out;
  for (std::size_t i = 0; i < count; ++i) {
    auto value = median_ms * 1e6 * std::exp(spread * random.normal());
    if (random.uniform() < 0.012) value *= 1.15 + 0.6 * random.uniform();
    value = std::round(value);
    out.latency_ns.push_back(value);
    out.wall_ns += value;
  }
  out.session_create_ns = 84e6 + static_cast<double>(seed % 7) * 3.1e6;
  out.first_run_ns = median_ms * 2.6e6;
  out.warmup_runs = 6;
  out.warmup_ns = median_ms * 7e6;
  out.stop_reason = schema::StopReason::interval_reached;
  out.peak_rss_bytes = static_cast<std::int64_t>(118 + seed % 9 * 4) << 20;
  return out;
}

/// A realistic `ridgeline tune` of the PP-OCRv4 text detector on four cores: 22 trials of every kind of ending,
/// finalists, leave-one-out pairs, pruned settings.
class TuneRunFixture {
 public:
  static TuneRecords make() {
    TuneRunFixture fixture;
    fixture.describe();
    fixture.run_trials();
    fixture.compare();
    return std::move(fixture.records_);
  }

 private:
  using Configuration = schema::Configuration;

  schema::TunedTrial& trial(schema::TrialStage stage, Configuration configuration, std::string reason) {
    auto& run = records_.run;
    schema::TunedTrial row;
    row.id = static_cast<int>(run.trials.size()) + 1;
    row.stage = stage;
    row.key = fmt::format("key-{}", row.id);
    row.configuration = std::move(configuration);
    row.started_s = now_s_;
    row.reason = legacy(std::move(reason));
    run.trials.push_back(std::move(row));
    return run.trials.back();
  }

  static schema::OutputError output_error(double max_abs, double max_rel, double scaled, double cosine) {
    schema::OutputError out;
    out.max_abs = max_abs;
    out.max_rel = max_rel;
    out.scaled_max_abs = scaled;
    out.cosine = cosine;
    out.elements = 409600;
    out.worst_output = "sigmoid_0.tmp_0";
    return out;
  }

  schema::TrialOutcome& measured(schema::TrialStage stage, Configuration configuration, double median_ms,
                                 std::size_t count, std::string reason, double spread = 0.015) {
    const auto& row = trial(stage, std::move(configuration), std::move(reason));
    auto& outcome = records_.outcomes[row.key];
    outcome.measurement = fake_measurement(static_cast<std::uint64_t>(row.id), median_ms, count, spread);
    for (const auto& [key, value] : row.configuration.values())
      outcome.measurement->effective_settings[key] = value.to_text();
    outcome.output_error = output_error(2.1e-6, 3.4e-5, 4.0e-6, 0.9999999);
    outcome.measured_utc = "2026-11-21T08:15:00Z";
    outcome.duration_s = 0.35 + outcome.measurement->wall_ns * 1e-9;
    now_s_ += outcome.duration_s + 0.01;
    return outcome;
  }

  schema::TrialOutcome& failing(schema::TrialStatus status, Configuration configuration, schema::Failure failure,
                                double duration_s, std::string reason) {
    const auto& row = trial(schema::TrialStage::search, std::move(configuration), std::move(reason));
    auto& outcome = records_.outcomes[row.key];
    outcome.status = status;
    outcome.failure = std::move(failure);
    outcome.measured_utc = "2026-11-21T08:15:30Z";
    outcome.duration_s = duration_s;
    now_s_ += duration_s + 0.02;
    return outcome;
  }

  void describe() {
    auto& run = records_.run;
    run.id = "20261121-081500-3f2a";
    run.command_line =
        "ridgeline tune models/ch_PP-OCRv4_det_infer.onnx --config config.yaml --shape x:1x3x320x320 --max-time 5m";
    run.started_utc = "2026-11-21T08:15:00Z";
    run.finished_utc = "2026-11-21T08:16:58Z";
    run.request.objective = schema::Objective::latency;
    run.request.constraints = {{"latency_p99_ms", true, 60}};
    run.accuracy_tolerance = 1e-3;
    run.request.search = "adaptive";
    run.device = "cpu:Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz/4";
    run.environment.cpu_model = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz";
    run.environment.logical_cpus = 8;
    run.environment.physical_cores = 4;
    run.environment.usable_cpus = 4;
    run.environment.affinity = {0, 1, 2, 3};
    run.environment.cgroup_cpu_quota = 4;
    run.environment.smt = true;
    run.environment.governor = "performance";
    run.environment.isa = {"avx2", "avx512f", "avx512_vnni", "amx_tile"};
    run.environment.memory_bytes = 16LL << 30;
    run.environment.memory_available_bytes = 11LL << 30;
    run.environment.os = "Debian GNU/Linux 12 (bookworm)";
    run.environment.kernel = "6.1.0-26-amd64";
    run.environment.hostname = "bench-01";
    run.environment.load_average = 0.21;
    run.environment.gpu_note = schema::messages::legacy({"none: libnvidia-ml.so.1 was not found", {}});
    run.environment.ridgeline_version = "0.1.0";
    auto& model = run.model;
    model.path = "models/ch_PP-OCRv4_det_infer.onnx";
    model.sha256 = "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9";
    model.file_bytes = 4745517;
    model.producer = "PaddlePaddle";
    model.ir_version = 7;
    model.opsets = {{"", 12}};
    model.inputs = {{"x", "float", {-1, 3, -1, -1}, {"batch", "", "height", "width"}}};
    model.outputs = {{"sigmoid_0.tmp_0", "float", {-1, 1, -1, -1}, {"batch", "", "height", "width"}}};
    model.node_counts = {{"Conv", 62},  {"Add", 58},          {"Mul", 55},
                         {"Relu", 33},  {"HardSigmoid", 10},  {"Concat", 3},
                         {"Resize", 6}, {"ConvTranspose", 2}, {"GlobalAveragePool", 10},
                         {"Sigmoid", 1}};
    model.nodes = 342;
    model.parameters = 1148945;
    model.parameter_bytes = 4595780;
    model.parameter_types = {{"float", 1148945}};
    model.flops = 1.62e9;
    model.min_bytes = 71.4e6;
    model.uncounted_ops = {{"Resize", 6}};
    model.shapes = {{{"x", {1, 3, 320, 320}}}};
    model.shape_notes = {schema::messages::legacy({"x: batch 1, height 320 and width 320 from --shape", {}})};
    model.batch_axis_size = 1;
    model.batch_is_dynamic = true;
    run.workload = {"onnx", model.path, model.sha256, model.shapes, {}, 1};
    run.runtime.name = "onnxruntime";
    run.runtime.version = "1.29.0";
    run.runtime.library_path = "/opt/onnxruntime/lib/libonnxruntime.so.1.29.0";
    run.runtime.library_sha256 = "9f1c2ab34f5d7a6d0c11f5c2b8b2ef0f6f7a1c6f3a9f0b1e2d3c4b5a69788776";
    run.runtime.providers = {"CPUExecutionProvider"};
    run.current = {{"intra_op_num_threads", 8}, {"graph_optimization_level", "basic"}};
    run.current_origins = {"config.yaml:12 intra_op_num_threads = 8",
                           "config.yaml:14 graph_optimization_level = basic"};
    run.space = {{"intra_op_num_threads", {1, 2, 4, 8}},
                 {"execution_mode", {"sequential", "parallel"}},
                 {"graph_optimization_level", {"disable_all", "basic", "extended", "layout", "all"}},
                 {"intra_op_allow_spinning", {false, true}},
                 {"dynamic_block_base", {2, 4, 8}},
                 {"enable_mem_pattern", {false, true}},
                 {"set_denormal_as_zero", {false, true}},
                 {"intra_op_thread_affinities", {"", "2;3;4"}}};
    run.space_size = 1920;
    run.pruned = {
        {"inter_op_num_threads",
         {},
         schema::messages::legacy({"matters only with execution_mode=parallel, which lost in screening", {}})},
        {"batch_size", {}, schema::messages::legacy({"the objective is latency of single items", {}})},
        {"parallel_sessions", {}, schema::messages::legacy({"the objective is latency: one inference in flight", {}})},
        {"intra_op_num_threads", {16}, schema::messages::legacy({"more than the 4 usable CPUs twice over", {}})},
        {"enable_gelu_approximation", {}, schema::messages::legacy({"the model has no Gelu node", {}})}};
    run.notes = {legacy("session.intra_op.spin_duration_us is left at the runtime's default")};
  }

  void run_trials() {
    using enum schema::TrialStage;
    using enum schema::TrialStatus;
    const auto& in_use = records_.run.current;
    const auto fast = in_use.with("graph_optimization_level", "all").with("intra_op_num_threads", 4);
    measured(schema::TrialStage::current, in_use, 21.6, 480, "the configuration in use", 0.04);
    measured(baseline, {}, 15.9, 520, "the runtime's defaults", 0.03);
    records_.run.trials.back().cached = true;
    measured(screening, in_use.with("intra_op_num_threads", 4), 17.1, 500, "fewer threads than logical CPUs");
    measured(screening, in_use.with("intra_op_num_threads", 2), 24.4, 260, "half the cores");
    measured(screening, in_use.with("intra_op_num_threads", 1), 41.9, 40, "one thread").measurement->stop_reason =
        schema::StopReason::stopped_early;
    measured(screening, in_use.with("graph_optimization_level", "all"), 17.8, 480, "all graph optimizations", 0.035);
    measured(screening, in_use.with("execution_mode", "parallel"), 29.3, 60, "independent operators side by side")
        .measurement->stop_reason = schema::StopReason::stopped_early;
    measured(screening, in_use.with("intra_op_allow_spinning", false), 23.5, 300, "sleeping worker threads");
    measured(search, fast, 13.62, 1100, "the two best single settings together");
    measured(search, fast.with("dynamic_block_base", 4), 13.41, 1150, "blocks that shrink");
    measured(search, fast.with("dynamic_block_base", 8), 13.44, 1120, "blocks that shrink, finer");
    measured(search, fast.with("dynamic_block_base", 4).with("enable_mem_pattern", false), 13.74, 900,
             "without a memory plan");
    failing(invalid, fast.with("intra_op_thread_affinities", "2;3"),
            {schema::TrialPhase::create_session,
             legacy("the runtime refused the session: number of affinities 2 is not equal to thread_num minus one"), 0,
             std::nullopt, "", std::nullopt},
            0.12, "pinned threads");
    failing(crashed, fast.with("intra_op_thread_affinities", "2;3;4").with("execution_mode", "parallel"),
            {schema::TrialPhase::measure, legacy("the worker died by SIGSEGV"), std::nullopt, 11,
             "[W:onnxruntime:, session_state.cc:1263] fallback\n\x1b[31m</script><script>alert('x')</script>\x1b[0m\n"
             "Segmentation fault in onnxruntime::concurrency::ThreadPool",
             std::nullopt},
            0.61, "pinned threads, parallel operators");
    failing(out_of_memory, fast.with("batch_size", 4096),
            {schema::TrialPhase::warmup, legacy("failed to allocate memory for requested buffer"), std::nullopt,
             std::nullopt, "onnxruntime::BFCArena::AllocateRawInternal Failed to allocate memory", 5033164800},
            2.4, "large batch set by hand");
    failing(timeout, fast.with("inter_op_num_threads", 64).with("execution_mode", "parallel"),
            {schema::TrialPhase::warmup, legacy("no progress for 10 s, killed"), std::nullopt, 9, "", std::nullopt},
            10.2, "many inter-op threads");
    {
      const auto rejected = fast.with("set_denormal_as_zero", true).with("dynamic_block_base", 4);
      auto& outcome = measured(search, rejected, 13.1, 700, "flushed denormals");
      outcome.status = rejected_accuracy;
      outcome.output_error = output_error(0.031, 0.4, 0.031, 0.9931);
      outcome.failure = schema::Failure{
          schema::TrialPhase::verify,
          legacy("out of tolerance: scaled error 3.1e-02 in output \"sigmoid_0.tmp_0\", allowed 1.0e-03"),
          std::nullopt,
          std::nullopt,
          "",
          std::nullopt};
    }
    measured(search, fast.with("graph_optimization_level", "layout"), 14.9, 600, "layout optimizations only");
    measured(search, fast.with("intra_op_allow_spinning", false), 15.2, 480, "sleeping worker threads");
    {
      auto& outcome = measured(search, fast.with("intra_op_num_threads", 3).with("dynamic_block_base", 4), 15.8, 420,
                               "one core left for others", 0.05);
      outcome.measurement->flags = {
          {schema::FlagLevel::notice, "not_steady", legacy("times were not steady after 5 s of warm-up")}};
    }
    measured(finalist, fast.with("dynamic_block_base", 4), 13.39, 1300, "finalist in a fresh process");
    measured(finalist, fast, 13.60, 1280, "finalist in a fresh process");
    records_.run.duration_s = now_s_ + 36;
  }

  void pair(schema::PairPurpose purpose, Configuration a, Configuration b, std::string setting,
            schema::Comparison comparison) {
    schema::TunedPair row;
    row.purpose = purpose;
    row.key = fmt::format("pair-{}", records_.run.pairs.size() + 1);
    row.a = std::move(a);
    row.b = std::move(b);
    row.setting = std::move(setting);
    row.comparison = comparison;
    records_.run.pairs.push_back(std::move(row));
  }

  void compare() {
    auto& run = records_.run;
    using enum schema::PairPurpose;
    using enum schema::Verdict;
    const auto winner = run.trials.at(9).configuration;
    pair(schema::PairPurpose::finalist, run.current, winner, "", {1.612, 1.594, 1.631, 1e-9, 12, faster});
    pair(schema::PairPurpose::finalist, run.current, run.trials.at(8).configuration, "",
         {1.587, 1.566, 1.609, 1e-9, 12, faster});
    pair(leave_one_out, winner, winner.with("intra_op_num_threads", 8), "intra_op_num_threads",
         {0.782, 0.771, 0.794, 1e-8, 12, slower});
    pair(leave_one_out, winner, winner.with("graph_optimization_level", "basic"), "graph_optimization_level",
         {0.801, 0.793, 0.809, 1e-8, 12, slower});
    pair(leave_one_out, winner, winner.without("dynamic_block_base"), "dynamic_block_base",
         {0.985, 0.977, 0.993, 0.004, 12, no_difference});
    run.pairs.push_back({leave_one_out, "pair-6", winner, winner, "enable_mem_pattern", schema::TrialStatus::timeout,
                         std::nullopt, legacy("the comparison passed its deadline of 60 s"), false});
    schema::TuneVerdict verdict;
    verdict.decision = schema::Decision::change;
    verdict.configuration = winner;
    verdict.trial_id = 10;
    verdict.gain = run.pairs.front().comparison;
    verdict.tied_with = {10, 11, 21, 9, 22};
    verdict.reason =
        legacy("trial 10 beats the current configuration by more than 2 % and is the simplest of its group");
    run.verdict = verdict;
  }

  TuneRecords records_;
  double now_s_ = 0.4;
};

}  // namespace ridgeline::fakes
