// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fakes/words.hpp"
#include "schema/messages.hpp"

#include <algorithm>

#include "fakes/tune_run_fixture.hpp"

namespace ridgeline::fakes {

/// A realistic `ridgeline tune --objective throughput` of ResNet-50 on one H200: batch sizes, sessions side by side,
/// every kind of binding, a refused CUDA graph, a batch that does not fit, clocks throttled and a neighbour on the
/// card.
class GpuRunFixture {
 public:
  static TuneRecords make() {
    GpuRunFixture fixture;
    fixture.describe_machine();
    fixture.describe_model();
    fixture.run_trials();
    fixture.compare();
    return std::move(fixture.records_);
  }

 private:
  using Configuration = schema::Configuration;
  using Stage = schema::TrialStage;

  /// What a trial is made of, besides its configuration.
  struct Load {
    double median_ms = 1;
    double busy_percent = 90;
    double memory_gb = 1;
    double power_w = 300;
    std::string reason;
    Stage stage = Stage::search;
    bool throttled = false;
  };

  schema::TunedTrial& trial(Stage stage, Configuration configuration, std::string reason) {
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

  /// The time line: the card is set up for 0.5 s, warms up, is timed until `end_s` less a little.
  schema::GpuTelemetry telemetry(const Load& load, double end_s, std::uint64_t seed) const {
    constexpr double kSetUpS = 0.5;
    base::Random random(seed);
    schema::GpuTelemetry out;
    out.uuid = records_.run.environment.gpus.at(0).uuid;
    out.timed_from_s = kSetUpS + 0.2;
    out.timed_to_s = end_s - 0.1;
    for (double at_s = 0; at_s < end_s; at_s += 0.1) {
      const bool working = at_s >= kSetUpS;
      const bool held = load.throttled && at_s > out.timed_from_s + 0.2;
      schema::GpuSample sample;
      sample.at_s = at_s;
      sample.sm_clock_mhz = held ? 1605 + std::round(30 * random.uniform()) : 1980;
      sample.memory_clock_mhz = 2619;
      sample.temperature_c = 38 + (working ? load.power_w / 40 : 1) + std::round(random.uniform());
      sample.power_w = std::round(working ? load.power_w + 12 * random.normal() : 118 + 4 * random.uniform());
      sample.utilization_percent = working ? load.busy_percent : 0;
      sample.memory_used_bytes = static_cast<std::int64_t>((working ? load.memory_gb : 0.4) * 1e9) + 600'000'000;
      sample.process_memory_bytes = *sample.memory_used_bytes - 600'000'000;
      sample.clock_reasons = held ? 0x4 : 0x1;
      out.samples.push_back(sample);
    }
    out.sm_clock_mhz = load.throttled ? 1620 : 1980;
    out.sm_clock_min_mhz = load.throttled ? 1605 : 1965;
    out.throttle_ns = {{"power", load.throttled ? 0.41e9 : 0.0}, {"thermal", 0.0}};
    if (load.throttled) out.clock_reasons = {"sw_power_cap"};
    out.energy_j = load.power_w * (out.timed_to_s - out.timed_from_s);
    out.memory_free_before_bytes = 149'600'000'000;
    out.memory_free_after_bytes = 149'580'000'000;
    out.process_peak_bytes = static_cast<std::int64_t>(load.memory_gb * 1e9);
    out.device_used_before_bytes = 600'000'000;
    out.device_peak_bytes = *out.process_peak_bytes + 600'000'000;
    out.kept_s = out.timed_to_s - out.timed_from_s;
    out.discarded_s = load.throttled ? 0.25 : 0;
    out.discarded_rounds = load.throttled ? 5 : 0;
    return out;
  }

  schema::TrialOutcome& measured(Configuration configuration, const Load& load) {
    const auto batch = configuration.get_or("batch_size", 1).as_integer(1);
    const auto concurrency = configuration.get_or("parallel_sessions", 1).as_integer(1);
    const auto& row = trial(load.stage, std::move(configuration), load.reason);
    const auto seed = static_cast<std::uint64_t>(row.id);
    auto& outcome = records_.outcomes[row.key];
    auto& measurement = outcome.measurement.emplace(fake_measurement(seed, load.median_ms, 240, 0.008));
    measurement.items_per_inference = static_cast<double>(batch);
    measurement.concurrency = static_cast<int>(concurrency);
    measurement.wall_ns /= static_cast<double>(concurrency);
    outcome.duration_s = 1.1 + measurement.wall_ns * 1e-9;
    measurement.warmup_ns = 1e9;
    measurement.gpu = telemetry(load, outcome.duration_s, seed);
    measurement.gpu->energy_mj_per_item =
        load.power_w * measurement.wall_ns * 1e-6 / (240.0 * static_cast<double>(batch));
    measurement.metrics = {{"gpu_weights_gb", 0.102 * static_cast<double>(concurrency)},
                           {"gpu_arena_gb", load.memory_gb - 0.6}};
    for (const auto& [key, value] : row.configuration.values()) measurement.effective_settings[key] = value.to_text();
    const bool exact = !row.configuration.get_or("use_tf32", true).as_bool();
    outcome.output_error.emplace();
    outcome.output_error->scaled_max_abs = exact ? 3.1e-6 : 4.2e-4 + 1e-5 * static_cast<double>(row.id % 5);
    outcome.output_error->elements = 1000 * batch;
    outcome.output_error->worst_output = "logits";
    outcome.measured_utc = "2026-11-21T10:30:00Z";
    now_s_ += outcome.duration_s + 0.02;
    return outcome;
  }

  void failing(schema::TrialStatus status, Configuration configuration, schema::Failure failure, double duration_s,
               std::string reason) {
    const auto& row = trial(Stage::search, std::move(configuration), std::move(reason));
    auto& outcome = records_.outcomes[row.key];
    outcome.status = status;
    outcome.failure = std::move(failure);
    outcome.measured_utc = "2026-11-21T10:30:30Z";
    outcome.duration_s = duration_s;
    now_s_ += duration_s + 0.02;
  }

  void describe_machine() {
    auto& run = records_.run;
    run.id = "20261121-103000-91cc";
    run.command_line =
        "ridgeline tune resnet50.onnx --provider cuda --objective throughput --batch 1,8,64,256,1024 --constraint "
        "'latency_median_ms<=15'";
    run.started_utc = "2026-11-21T10:30:00Z";
    run.finished_utc = "2026-11-21T10:31:08Z";
    run.request.objective = schema::Objective::throughput;
    run.request.constraints = {{"latency_median_ms", true, 15}};
    run.accuracy_tolerance = 2e-3;
    run.request.search = "adaptive";
    run.provider = "cuda";
    run.device = "gpu:GPU-6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    auto& env = run.environment;
    env.cpu_model = "Intel(R) Xeon(R) Platinum 8480C";
    env.logical_cpus = 224;
    env.physical_cores = 16;
    env.usable_cpus = 16;
    env.memory_bytes = 128LL << 30;
    env.memory_available_bytes = 120LL << 30;
    env.os = "Ubuntu 22.04.5 LTS";
    env.kernel = "5.15.0-1063-nvidia";
    env.hostname = "gpu-07";
    env.ridgeline_version = "0.1.0";
    schema::GpuDescription gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    gpu.memory_bytes = 150'754'820'096;
    gpu.driver_version = "580.82.07";
    gpu.index = 0;
    gpu.architecture = "Hopper";
    gpu.compute_capability = "9.0";
    gpu.multiprocessors = 132;
    gpu.memory_free_bytes = 150'110'000'000;
    gpu.cuda_version = "13.0";
    gpu.max_sm_clock_mhz = 1980;
    gpu.max_memory_clock_mhz = 2619;
    gpu.power_limit_w = 700;
    gpu.default_power_limit_w = 700;
    gpu.mig = false;
    gpu.ecc = true;
    gpu.persistence = true;
    env.gpus = {gpu};
    auto& runtime = run.runtime;
    runtime.name = "onnxruntime";
    runtime.version = "1.29.0";
    runtime.library_path = "/opt/onnxruntime/lib/libonnxruntime.so.1.29.0";
    runtime.library_sha256 = "9f1c2ab34f5d7a6d0c11f5c2b8b2ef0f6f7a1c6f3a9f0b1e2d3c4b5a69788776";
    runtime.providers = {"CUDAExecutionProvider", "CPUExecutionProvider"};
    runtime.loaded_libraries = {"/usr/local/cuda/lib64/libcudart.so.13.0.48",
                                "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.13.0"};
    runtime.provider_libraries = {{"cuda",
                                   {{"libcudart.so", "13.0.48"},
                                    {"libcudnn.so", "9.13.0"},
                                    {"libcublas.so", "13.0.0.19"},
                                    {"libcufft.so", "12.0.0.15"}}}};
    run.gpu_ceilings.emplace();
    run.gpu_ceilings->copy_gb_per_s = 4120;
    run.gpu_ceilings->h2d_gb_per_s = 54.8;
    run.gpu_ceilings->d2h_gb_per_s = 54.1;
    run.gpu_ceilings->h2d_pageable_gb_per_s = 11.3;
    run.gpu_ceilings->d2h_pageable_gb_per_s = 9.7;
    run.gpu_ceilings->matmul_fp32_tflops = 51.2;
    run.gpu_ceilings->matmul_tf32_tflops = 388;
    run.gpu_ceilings->launch_us = 2.3;
  }

  void describe_model() {
    auto& run = records_.run;
    auto& model = run.model;
    model.path = "models/resnet50.onnx";
    model.sha256 = "5f3c2d7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49";
    model.file_bytes = 102'440'000;
    model.producer = "pytorch";
    model.ir_version = 8;
    model.opsets = {{"", 17}};
    model.inputs = {{"pixels", "float", {-1, 3, 224, 224}, {"N", "", "", ""}}};
    model.outputs = {{"logits", "float", {-1, 1000}, {"N", ""}}};
    model.node_counts = {{"Conv", 53},   {"Relu", 49}, {"Add", 16}, {"MaxPool", 1}, {"GlobalAveragePool", 1},
                         {"Flatten", 1}, {"Gemm", 1}};
    model.nodes = 122;
    model.parameters = 25'557'032;
    model.parameter_bytes = 102'228'128;
    model.parameter_types = {{"float", 25'557'032}};
    model.flops = 8.2e9;
    model.min_bytes = 191e6;
    run.runtime_graphs = {{"extended", 73, 150e6, ""}};
    model.shapes = {{{"pixels", {1, 3, 224, 224}}}};
    model.batch_axis_size = 1;
    model.batch_is_dynamic = true;
    run.workload = {"onnx", model.path, model.sha256, model.shapes, {}, 1, {{"images", {"N", "", "", ""}}}};
    run.space = {{"batch_size", {1, 8, 64, 256, 1024}},
                 {"parallel_sessions", {1, 2}},
                 {"cudnn_conv_algo_search", {"HEURISTIC", "EXHAUSTIVE", "DEFAULT"}},
                 {"io_binding", {"none", "pinned", "device", "stream"}},
                 {"prefer_nhwc", {false, true}},
                 {"enable_cuda_graph", {false, true}}};
    run.space_size = 480;
    run.pruned = {{"sdpa_kernel", {}, schema::messages::legacy({"the model has no attention node", {}})},
                  {"tunable_op_enable", {}, schema::messages::legacy({"no effect on CUDA in this version", {}})}};
  }

  void run_trials() {
    using enum schema::TrialStatus;
    const Configuration none;
    const auto batch = [](std::int64_t items) { return Configuration{{"batch_size", items}}; };
    measured(none, {1.094, 62, 1.31, 210, "the configuration in use", Stage::current});
    measured({{"cudnn_conv_algo_search", "DEFAULT"}},
             {7.37, 93, 1.22, 330, "the fallback algorithm", Stage::screening});
    measured({{"prefer_nhwc", true}}, {0.921, 58, 1.36, 228, "channels last", Stage::screening});
    measured({{"use_tf32", false}}, {2.449, 84, 1.29, 360, "exact products", Stage::screening});
    measured({{"io_binding", "device"}}, {1.081, 63, 1.31, 214, "bound tensors", Stage::screening});
    failing(unsupported, {{"enable_cuda_graph", true}},
            {schema::TrialPhase::create_session,
             legacy("enable_cuda_graph=true: 3 nodes run on the CPU: Shape \"/Shape\", Gather \"/Gather\", Concat "
                    "\"/Concat\"",
                    "try override_free_dimensions=true, which may free the graph of them"),
             std::nullopt, std::nullopt, "", std::nullopt},
            0.9, "captured graph");
    const Configuration best{{"io_binding", "stream"},
                             {"prefer_nhwc", true},
                             {"enable_cuda_graph", true},
                             {"override_free_dimensions", true}};
    measured(best, {0.709, 95, 1.52, 345, "the best single settings together"});
    measured(batch(8), {2.61, 60, 1.46, 290, "batch 8, plain"});
    measured(best.with("batch_size", 8), {1.46, 94, 1.68, 480, "batch 8"});
    measured(batch(64), {12.62, 58, 2.35, 350, "batch 64, plain"});
    measured(best.with("batch_size", 64), {7.92, 97, 2.72, 655, "batch 64", Stage::search, true});
    measured(best.with("batch_size", 64).with("parallel_sessions", 2),
             {14.6, 99, 5.31, 688, "copies under the other session", Stage::search, true})
        .measurement->gpu->neighbours_after = {{31337, std::int64_t{2} << 30}};
    measured(best.with("batch_size", 8).with("parallel_sessions", 2), {2.21, 98, 3.24, 560, "two sessions"});
    measured(best.with("batch_size", 256), {30.9, 98, 6.4, 676, "batch 256", Stage::search, true}).measurement->flags =
        {{schema::FlagLevel::notice, "throttled",
          legacy("the GPU throttled its clocks for 62 % of the timed window and ran far below its own "
                 "clock for 0 %: too much to be taken "
                 "again, so everything counts")}};
    failing(out_of_memory, best.with("batch_size", 1024).with("gpu_mem_limit_gb", 16),
            {schema::TrialPhase::warmup, legacy("GPU memory ran out"), std::nullopt, std::nullopt,
             "onnxruntime::BFCArena::AllocateRawInternal Available memory of 52428800 is smaller than requested bytes "
             "of 3288334336",
             3'288'334'336},
            1.8, "batch 1024");
    measured(best.with("batch_size", 64).with("gpu_mem_limit_gb", 2), {7.95, 97, 2.71, 650, "a tight limit"});
    records_.run.trials.back().cached = true;
    measured(best.with("batch_size", 64).with("parallel_sessions", 2),
             {14.55, 99, 5.31, 686, "finalist in a fresh process", Stage::finalist});
    records_.run.duration_s = now_s_ + 9;
  }

  void compare() {
    auto& run = records_.run;
    using enum schema::PairPurpose;
    using enum schema::Verdict;
    const auto winner = run.trials.at(11).configuration;
    const auto pair = [&](schema::PairPurpose purpose, Configuration a, Configuration b, std::string setting,
                          schema::Comparison comparison) {
      schema::TunedPair row;
      row.purpose = purpose;
      row.key = fmt::format("pair-{}", run.pairs.size() + 1);
      row.a = std::move(a);
      row.b = std::move(b);
      row.setting = std::move(setting);
      row.comparison = comparison;
      run.pairs.push_back(std::move(row));
    };
    pair(schema::PairPurpose::finalist, run.current, winner, "", {9.58, 9.47, 9.7, 1e-12, 12, faster});
    pair(leave_one_out, winner, winner.without("prefer_nhwc"), "prefer_nhwc", {0.858, 0.851, 0.866, 1e-9, 12, slower});
    pair(leave_one_out, winner, winner.without("parallel_sessions"), "parallel_sessions",
         {0.921, 0.912, 0.931, 1e-8, 12, slower});
    pair(leave_one_out, winner, winner.without("enable_cuda_graph"), "enable_cuda_graph",
         {0.996, 0.989, 1.003, 0.31, 12, no_difference});
    schema::TuneVerdict verdict;
    verdict.decision = schema::Decision::change;
    verdict.configuration = winner;
    verdict.trial_id = 12;
    verdict.gain = run.pairs.front().comparison;
    verdict.tied_with = {12, 17};
    verdict.reason =
        legacy("trial 12 beats the current configuration by more than 2 % and is the simplest of its group");
    verdict.isolated_key = "alone";
    const auto searched =
        std::find_if(run.trials.begin(), run.trials.end(), [](const auto& row) { return row.id == 12; });
    auto& alone = records_.outcomes[verdict.isolated_key] = records_.outcomes.at(searched->key);
    for (double& latency : alone.measurement->latency_ns) latency *= 0.92;
    run.verdict = verdict;
  }

  TuneRecords records_;
  double now_s_ = 0.6;
};

}  // namespace ridgeline::fakes
