// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "fakes/typed_executor.hpp"
#include "fakes/words.hpp"

namespace ridgeline::fakes {

/// Answers trials from a response surface with log-normal noise; starts no process.
class FakeExecutor final : public TypedExecutor {
 public:
  std::function<double(const schema::Configuration&)> cost_ns = [](const auto&) { return 1e6; };
  std::function<std::optional<schema::TrialStatus>(const schema::Configuration&)> failure = [](const auto&) {
    return std::nullopt;
  };
  std::optional<schema::GpuTelemetry> failure_gpu;  ///< of every failure
  std::function<double(const schema::Configuration&)> output_error = [](const auto&) { return 0.0; };
  /// The user's own of a trial's outputs, and (of no settings) the reference's; NaN: not finite.
  std::function<std::optional<double>(const schema::Configuration&)> metric = [](const auto&) { return std::nullopt; };
  std::function<double(const schema::Configuration&)> cosine = [](const auto&) { return 1.0; };
  /// Of the reference's outputs, where they change from call to call, and how far a trial's are from them.
  std::optional<schema::CallVariation> reference_variation;
  std::function<schema::SpreadError(const schema::Configuration&)> spread;
  double reference_noise = 0;  ///< OutputError::scaled_max_abs between two of the reference
  /// When it answers, arm B of a pair is that many times as fast as arm A, whatever cost_ns says: measurements of a
  /// real machine need not agree with each other.
  std::function<std::optional<double>(const schema::Configuration& a, const schema::Configuration& b)> pair_ratio =
      [](const auto&, const auto&) { return std::nullopt; };
  /// When it answers, that is what a pair measured.
  std::function<std::optional<schema::PairedMeasurement>(const schema::PairedSpec&)> pair_measurement =
      [](const auto&) { return std::nullopt; };
  /// Of a session, as the outcome says; it takes no time here.
  std::function<double(const schema::Configuration&)> setup_s = [](const auto&) { return 0.0; };
  std::function<double(int)> duration_s = [](int) { return 1.0; };  ///< of the n-th trial, as the outcome says
  std::vector<std::string> loaded_by_trials;                        ///< RuntimeIdentity::loaded_libraries after one
  /// Runtimes beside the usual one, by their file: how many times as long an inference takes there.
  std::map<std::string, double> other_runtimes;
  std::optional<schema::RuntimeIdentity> runtime;  ///< in place of the usual one
  std::string runtime_library = "/lib/ort.so";     ///< of the usual one
  double isolated_pace = 1;                        ///< of TrialSpec::isolated; 0.9: takes so much less
  bool stops_losers = false;                       ///< trials that lose the race they are in
  double noise = 0.01;
  std::int64_t reference_nonfinite = 0;
  schema::ModelDescription model = default_model();
  /// Called before every trial; the trial ends with `cancelled` when it returns true.
  std::function<bool()> interrupt = [] { return false; };
  /// Trials, references and pairs of these never answer: a limit of the run's time ends them, without one they are an
  /// error of the test.
  std::function<bool(const schema::Configuration&)> hangs = [](const auto&) { return false; };
  std::function<bool(const schema::Configuration&)> pair_hangs = [](const auto&) { return false; };
  bool reference_hangs = false;
  int trials_run = 0;
  int pairs_run = 0;
  std::vector<schema::PairedPlan> pair_plans;
  std::vector<schema::QualityFlag> pair_flags;  ///< of every comparison
  int references_made = 0;
  /// Why a reference fails; nullopt: it does not.
  std::function<std::optional<base::Error>(const schema::TrialSpec&)> reference_error = [](const auto&) {
    return std::nullopt;
  };
  /// What becomes of the model with another length of its inputs (InspectRequest::length).
  std::function<void(std::int64_t, schema::ModelDescription&)> take_length = [](std::int64_t, auto&) {};
  std::vector<schema::TrialSpec> references;
  std::optional<schema::GpuCeilings> ceilings = schema::GpuCeilings{};
  int ceilings_measured = 0;
  /// Unset: nothing here runs commands.
  std::function<base::Result<schema::SweepOutcome>(const execute::CommandTrial&)> command;
  /// Unset: what is run here has no graph.
  std::function<base::Result<schema::RuntimeGraph>(const schema::TrialSpec&)> graph;

  static schema::ModelDescription default_model() {
    schema::ModelDescription model;
    model.path = "model.onnx";
    model.sha256 = "abc";
    model.opsets[""] = 17;
    model.inputs = {{"x", "float", {1, 3, 32, 32}, {"", "", "", ""}}};
    model.outputs = {{"y", "float", {1, 10}, {"", ""}}};
    model.node_counts = {{"Conv", 40}, {"Relu", 40}, {"Gemm", 1}};
    model.nodes = 81;
    model.parameters = 1000000;
    model.shapes = {{{"x", {1, 3, 32, 32}}}};
    model.batch_axis_size = 1;
    return model;
  }

  schema::RuntimeSearch find_runtimes(const schema::RuntimeRequest& where) override {
    auto search = TypedExecutor::find_runtimes(where);
    for (const auto& [path, pace] : other_runtimes) search.runtimes.emplace_back().library_path = path;
    return search;
  }
  base::Result<schema::RuntimeIdentity> probe(const std::string&, const std::string& library) override {
    if (runtime) return *runtime;
    schema::RuntimeIdentity identity{
        "onnxruntime", "1.29.0", runtime_library, "hash", {"CPUExecutionProvider"}, {}, {}};
    if (other_runtimes.count(library) != 0) identity.library_path = identity.library_sha256 = library;
    if (trials_run > 0) identity.loaded_libraries = loaded_by_trials;
    return identity;
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    auto described = model;
    if (request.length) take_length(*request.length, described);
    return described;
  }

  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string&, const std::string&) override {
    ++ceilings_measured;
    if (!ceilings) return base::fail(base::ErrorCode::unavailable, "no GPU is here");
    return *ceilings;
  }

  base::Result<schema::SweepOutcome> run_command(const execute::CommandTrial& trial,
                                                 const execute::TimeLeft& left) override {
    return command ? command(trial) : TypedExecutor::run_command(trial, left);
  }
  base::Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec& spec) override {
    return graph ? graph(spec) : TypedExecutor::runtime_graph(spec);
  }

  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                               const execute::TrialOptions& options) override {
    if (hangs(spec.configuration)) return hung(options.time_left);
    if (interrupt()) return base::fail(base::ErrorCode::cancelled, "interrupted");
    ++trials_run;
    schema::TrialOutcome outcome;
    outcome.measured_utc = "2025-11-21T08:00:00Z";  // when FakeClock begins
    outcome.duration_s = duration_s(trials_run);
    if (const auto status = failure(spec.configuration)) {
      outcome.status = *status;
      outcome.failure = schema::Failure{};
      outcome.failure->message = legacy("made to fail");
      outcome.failure->gpu = failure_gpu;
      return outcome;
    }
    auto& measurement = outcome.measurement.emplace();
    measurement.latency_ns = samples(spec.configuration, 200);
    for (double& latency : measurement.latency_ns) latency *= pace_of(spec);
    if (spec.isolated)
      for (double& latency : measurement.latency_ns) latency *= isolated_pace;
    for (const double latency : measurement.latency_ns) measurement.wall_ns += latency;
    measurement.peak_rss_bytes = 100 << 20;
    measurement.session_create_ns = setup_s(spec.configuration) * 1e9;
    if (stops_losers && options.stop_above_ns && cost_ns(spec.configuration) > *options.stop_above_ns)
      measurement.stop_reason = schema::StopReason::stopped_early;
    outcome.output_error.emplace().scaled_max_abs = output_error(spec.configuration);
    outcome.output_error->elements = 10;
    outcome.output_error->cosine = cosine(spec.configuration);
    if (spread) outcome.output_error->spread = spread(spec.configuration);
    add_metric(*outcome.output_error, spec.configuration);
    return outcome;
  }

  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec, const execute::TimeLeft& left) override {
    if (pair_hangs(spec.other)) return hung(left);
    if (interrupt()) return base::fail(base::ErrorCode::cancelled, "interrupted");
    ++pairs_run;
    pair_plans.push_back(spec.plan);
    schema::PairedOutcome outcome;
    outcome.measurement = pair_measurement(spec);
    if (outcome.measurement) return outcome;
    auto& measurement = outcome.measurement.emplace();
    measurement.flags = pair_flags;
    const auto ratio = pair_ratio(spec.base.configuration, spec.other);
    for (int abba_round = 0; abba_round < spec.plan.abba_rounds; ++abba_round)
      for (const char arm : {'A', 'B', 'B', 'A'}) {
        schema::PairedBlock block;
        block.arm = arm;
        block.latency_ns = samples(arm == 'A' || ratio ? spec.base.configuration : spec.other, 30);
        if (arm == 'B' && ratio)
          for (double& latency : block.latency_ns) latency /= *ratio;
        const auto& runs_on = arm == 'B' && spec.across ? *spec.across : spec.base;
        for (double& latency : block.latency_ns) latency *= pace_of(runs_on);
        for (const double latency : block.latency_ns) block.wall_ns += latency;
        measurement.blocks.push_back(std::move(block));
      }
    return outcome;
  }

  base::Result<schema::OutputError> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                   const execute::TimeLeft& left) override {
    if (reference_hangs) return hung(left);
    if (auto error = reference_error(spec)) return tl::unexpected(std::move(*error));
    ++references_made;
    std::ofstream(path) << "outputs";
    schema::OutputError noise_floor;
    noise_floor.elements = 10;
    noise_floor.nonfinite = reference_nonfinite;
    noise_floor.worst_output = "y";
    noise_floor.scaled_max_abs = reference_noise;
    noise_floor.variation = reference_variation;
    add_metric(noise_floor, {});
    references.push_back(spec);
    return noise_floor;
  }

 private:
  static tl::unexpected<base::Error> hung(const execute::TimeLeft& left) {
    const bool ends = left.seconds + left.grace_s < 3600;
    return base::fail(ends ? base::ErrorCode::out_of_time : base::ErrorCode::internal,
                      "ended in phase measure, in which nothing moved");
  }
  void add_metric(schema::OutputError& error, const schema::Configuration& configuration) const {
    error.metric = metric(configuration);
    error.metric_not_finite = error.metric && !std::isfinite(*error.metric);
    if (error.metric_not_finite) error.metric.reset();
  }
  [[nodiscard]] double pace_of(const schema::TrialSpec& spec) const {
    const auto found = other_runtimes.find(spec.runtime.library_path);
    return found == other_runtimes.end() ? 1 : found->second;
  }
  std::vector<double> samples(const schema::Configuration& configuration, int count) {
    std::vector<double> out;
    const double cost = cost_ns(configuration);
    for (int i = 0; i < count; ++i) out.push_back(cost * std::exp(noise * random_.normal()));
    return out;
  }
  base::Random random_{7};
};

}  // namespace ridgeline::fakes
