// SPDX-License-Identifier: Apache-2.0
#include "analysis/gpu_limits.hpp"

#include <gtest/gtest.h>

#include "analysis/findings.hpp"
#include "fakes/words.hpp"
#include "gpu_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

const schema::Configuration kBound{{"io_binding", "stream"}, {"enable_cuda_graph", true}};
/// The builder's model as the runtime runs it: nothing fused, so its counts are no upper bounds.
const schema::RuntimeGraph kNothingFused{"extended", 120, 180e6, ""};

GpuLimits limits_of(const GpuRunBuilder& builder) {
  const auto ranking = rank(builder.run, builder.outcomes);
  const auto limits = gpu_limits(builder.run, ranking.at(0));
  return limits.value_or(GpuLimits{});
}

/// The finding of the bound rule.
Finding bound_finding(const GpuRunBuilder& builder) {
  for (const auto& finding : find_all(builder.run, builder.outcomes))
    for (const auto* mark : {"-bound (trial 1)", "Slow kernels (trial 1)", "What limits trial 1 is not clear"})
      if (fakes::text_of(finding.title).find(mark) != std::string::npos) return finding;
  ADD_FAILURE() << "no finding tells a bound";
  return {};
}

TEST(GpuLimits, finds_a_planted_wait_for_launches) {
  GpuRunBuilder builder;
  builder.run.runtime_graphs = {kNothingFused};
  builder.add_gpu({}, 0.9, 35);  // copies: 0.6 MB of 65 us at the pageable rate, of 585 us without kernels
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::launch);
  EXPECT_NEAR(*limits.distance, 20, 0.1);  // 0.9 ms over 45 us of memory traffic
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("waits for the host 65 % of the time"), std::string::npos)
      << fakes::text_of(finding.title);
  EXPECT_NE(fakes::text_of(finding.advice).find("enable_cuda_graph=true"), std::string::npos)
      << fakes::text_of(finding.advice);
}

TEST(GpuLimits, finds_planted_kernels_too_short_to_fill_the_card) {
  GpuRunBuilder builder;
  builder.run.runtime_graphs = {kNothingFused};
  builder.add_gpu(kBound, 0.7, 96);  // 5.8 us a node, arithmetic 20 us, memory 45 us
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("5.83 µs per node is too short"), std::string::npos)
      << fakes::text_of(finding.title);
  EXPECT_EQ(fakes::text_of(finding.advice).find("enable_cuda_graph"), std::string::npos)
      << fakes::text_of(finding.advice);
}

TEST(GpuLimits, do_not_take_the_drivers_average_over_what_came_before_for_the_trials_own) {
  GpuRunBuilder builder;
  builder.add_gpu(kBound, 0.7, 1);  // as read on an H200 after a pause of half a second
  ASSERT_TRUE(limits_of(builder).busy);
  auto& measurement = *builder.outcomes.begin()->second.measurement;
  measurement.warmup_ns = 0.05e9;
  measurement.gpu->timed_to_s = measurement.gpu->timed_from_s + 0.1;
  EXPECT_FALSE(limits_of(builder).busy);
  EXPECT_EQ(fakes::text_of(bound_finding(builder).title).find("waits for the host"), std::string::npos)
      << fakes::text_of(bound_finding(builder).title);
}

TEST(GpuLimits, finds_planted_copies) {
  GpuRunBuilder builder;
  builder.add_gpu({{"batch_size", 64}}, 9, 45);  // 38.5 MB in from ordinary memory: 3.9 of 4.95 ms without kernels
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::copy);
  EXPECT_NEAR(limits.work.input_bytes, 64 * 3 * 224 * 224 * 4, 1);
  EXPECT_NEAR(limits.work.output_bytes, 64 * 1000 * 4, 1);
  EXPECT_NEAR(*limits.distance, 9 / 3.88, 0.01);
  EXPECT_NE(fakes::text_of(bound_finding(builder).advice).find("io_binding"), std::string::npos);
}

TEST(GpuLimits, finds_planted_memory_traffic) {
  GpuRunBuilder builder;
  builder.run.runtime_graphs = {{"extended", 120, 20e9, ""}};
  builder.run.model.parameter_bytes = 19'000'000'000;
  builder.add_gpu(kBound, 6, 99);  // 5 ms of traffic
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::memory);
  EXPECT_FALSE(limits.likely);
  EXPECT_NEAR(*limits.distance, 1.2, 1e-9);
  EXPECT_EQ(fakes::text_of(bound_finding(builder).title),
            "Memory-bound (trial 1): memory traffic alone takes about 83 % of an inference");
}

// What the file's nodes would move and launch is more than what is left after fusion, so it is no floor.
TEST(GpuLimits, name_memory_traffic_that_fusion_may_take_away_as_likely_only) {
  GpuRunBuilder builder;
  builder.run.model.min_bytes = 20e9;
  builder.run.model.parameter_bytes = 19'000'000'000;
  builder.add_gpu(kBound, 6, 99);  // up to 5 ms of traffic
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::memory);
  EXPECT_TRUE(limits.likely);
  EXPECT_FALSE(limits.distance);
  const auto finding = bound_finding(builder);
  EXPECT_EQ(fakes::text_of(finding.title),
            "Likely memory-bound (trial 1): memory traffic alone takes up to 83 % of an inference");
  EXPECT_NE(fakes::text_of(finding.evidence).find("memory traffic up to 5.00 ms (20.0 GB if no node were fused)"),
            std::string::npos)
      << fakes::text_of(finding.evidence);
  EXPECT_EQ(fakes::text_of(finding.evidence).find("times that limit"), std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(GpuLimits, do_not_let_memory_traffic_that_fusion_may_take_away_decide) {
  GpuRunBuilder builder;
  builder.run.model.min_bytes = 20e9;
  builder.run.model.flops = 800e9;
  builder.add_gpu(kBound, 6, 99);  // arithmetic 33 %, memory traffic up to 83 %
  EXPECT_EQ(limits_of(builder).bound, GpuBound::unclear);
  EXPECT_FALSE(limits_of(builder).slow_kernels) << "memory traffic may explain them";
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("arithmetic takes at least 33 %, memory traffic up to 83 %"),
            std::string::npos)
      << fakes::text_of(finding.title);
  EXPECT_NE(fakes::text_of(finding.advice).find("A run that reads the runtime's graph"), std::string::npos)
      << fakes::text_of(finding.advice);
  builder.run.runtime_graphs = {{"extended", 120, 20e9, ""}};
  EXPECT_EQ(limits_of(builder).bound, GpuBound::memory);

  GpuRunBuilder idle;
  idle.run.tensor_location = "device";
  idle.run.model.min_bytes = 20e9;
  idle.add_gpu(kBound, 6, 35);
  EXPECT_EQ(limits_of(idle).bound, GpuBound::launch) << "the card was seen to wait";
  EXPECT_FALSE(limits_of(idle).likely);
  EXPECT_FALSE(limits_of(idle).distance);
}

TEST(GpuLimits, do_not_let_launches_that_fusion_may_take_away_decide) {
  GpuRunBuilder builder;
  builder.run.tensor_location = "device";
  builder.run.model.nodes = 4000;
  builder.run.model.min_bytes = 4e9;
  builder.run.model.flops = 800e9;
  builder.add_gpu({}, 4, -1);  // launches up to 200 %, arithmetic at least 50 %, memory traffic up to 25 %
  EXPECT_EQ(limits_of(builder).bound, GpuBound::compute);
  builder.run.model.flops = 8e9;
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  EXPECT_TRUE(limits_of(builder).likely);
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("Likely launch-bound (trial 1): launches may explain more"),
            std::string::npos)
      << fakes::text_of(finding.title);
  EXPECT_NE(fakes::text_of(finding.evidence).find("launches up to 8.00 ms (4000 nodes if none were fused)"),
            std::string::npos)
      << fakes::text_of(finding.evidence);
  builder.run.model.min_bytes = 8e9;  // up to 50 %
  EXPECT_EQ(limits_of(builder).bound, GpuBound::unclear);
  builder.run.runtime_graphs = {{"extended", 1500, 4e9, ""}};
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch) << "75 % of the time";
  EXPECT_FALSE(limits_of(builder).likely);
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("launches about 3.00 ms (1500 nodes);"),
            std::string::npos)
      << fakes::text_of(bound_finding(builder).evidence);
}

TEST(GpuLimits, call_the_nodes_of_the_file_short_with_the_doubt_that_fusion_leaves) {
  GpuRunBuilder builder;
  builder.add_gpu(kBound, 0.7, 96);
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  EXPECT_EQ(fakes::text_of(bound_finding(builder).title),
            "Likely launch-bound (trial 1): 5.83 µs per node of the file may be too short to fill the GPU");
}

// Printed for every launch-bound trial that nobody watched, also for one with larger memory traffic.
TEST(GpuLimits, do_not_say_that_launches_explain_most_where_they_do_not) {
  GpuRunBuilder builder;
  builder.run.tensor_location = "device";
  builder.run.gpu_ceilings->launch_us = 1;
  builder.run.runtime_graphs = {{"extended", 120, 1.2e9, ""}};
  builder.add_gpu({}, 1.1, -1);  // launches 11 %, memory traffic 27 %, 9.2 us a node
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  EXPECT_EQ(fakes::text_of(bound_finding(builder).title),
            "Launch-bound (trial 1): 9.17 µs per node is too short to fill the GPU");
}

TEST(GpuLimits, count_what_the_runtime_has_left_of_the_model) {
  GpuRunBuilder builder;
  builder.run.model.min_bytes = 40e9;  // more than the time allows: ViT-B/16's own nodes move 1.5 times what it does
  builder.run.runtime_graphs = {{"basic", 100, 40e9, ""}, {"extended", 30, 10.1e9, ""}};
  builder.add_gpu(kBound.with("batch_size", 2), 6, 99);
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::memory);
  EXPECT_TRUE(limits.work.as_run);
  EXPECT_NEAR(limits.work.memory_bytes, 0.1e9 + 2 * 10e9, 1) << "weights once, the rest for each item";
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("takes about 84 %"), std::string::npos) << fakes::text_of(finding.title);
  EXPECT_NE(fakes::text_of(finding.evidence).find("(20.1 GB in the nodes that run)"), std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(GpuLimits, count_a_launch_for_each_node_that_is_left) {
  GpuRunBuilder builder;
  builder.run.runtime_graphs = {{"extended", 30, 100e6, ""}};
  builder.add_gpu({}, 0.9, 35);
  EXPECT_DOUBLE_EQ(*limits_of(builder).launch_ns, 30 * 2e3);
  // Of another level, or without a rewrite that this one has: nothing is known of this one.
  builder.run.runtime_graphs = {{"basic", 30, 100e6, ""}, {"extended", 30, 100e6, "MatMulAddFusion"}};
  EXPECT_DOUBLE_EQ(*limits_of(builder).launch_ns, 120 * 2e3);
}

TEST(GpuLimits, finds_planted_arithmetic) {
  GpuRunBuilder builder;
  builder.run.model.flops = 35e9;
  builder.add_gpu(kBound.with("batch_size", 64), 15, 98);  // 5.6 ms at the TF32 rate, 1.3 ms of traffic
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::compute);
  EXPECT_EQ(limits.compute_type, "TF32");
  EXPECT_NEAR(*limits.distance, 15 / 5.6, 0.01);
}

TEST(GpuLimits, finds_planted_arithmetic_at_the_rate_of_the_type_in_use) {
  GpuRunBuilder builder;
  builder.run.model.flops = 35e9;
  builder.add_gpu(kBound.with("batch_size", 8).with("use_tf32", false), 7, 98);  // 5.6 ms at the FP32 rate
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::compute);
  EXPECT_EQ(limits.compute_type, "FP32");
  EXPECT_NEAR(*limits.distance, 7 / 5.6, 0.01);
  EXPECT_NE(fakes::text_of(bound_finding(builder).advice).find("TF32"), std::string::npos);
}

TEST(GpuLimits, leave_copies_out_where_the_data_stays_on_the_device) {
  GpuRunBuilder builder;
  builder.run.tensor_location = "device";
  builder.add_gpu({{"batch_size", 64}}, 9, 45);
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.copy_ns, 0);
  EXPECT_EQ(limits.bound, GpuBound::launch);
}

TEST(GpuLimits, say_so_when_the_pageable_rate_is_only_taken) {
  GpuRunBuilder builder;
  builder.run.gpu_ceilings->h2d_pageable_gb_per_s.reset();
  builder.run.gpu_ceilings->d2h_pageable_gb_per_s.reset();
  builder.add_gpu({{"batch_size", 64}}, 9, 45);
  const auto limits = limits_of(builder);
  EXPECT_TRUE(limits.pageable_assumed);
  EXPECT_NEAR(*limits.copy_ns, 38.79e6 / (50.0 / 3), 1e4);
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("a third of the pinned rate"), std::string::npos);
}

TEST(GpuLimits, judge_without_ceilings_from_what_is_left_and_say_so) {
  const auto bound_of = [](const schema::Configuration& configuration, double ms, double busy, double flops) {
    GpuRunBuilder builder;
    builder.run.gpu_ceilings.reset();
    builder.run.model.flops = flops;
    builder.add_gpu(configuration, ms, busy);
    return limits_of(builder).bound;
  };
  EXPECT_EQ(bound_of({}, 0.9, 35, 8e9), GpuBound::launch);                // 1 GB/s would fill the idle time
  EXPECT_EQ(bound_of({{"batch_size", 64}}, 9, 45, 8e9), GpuBound::copy);  // 7.8 GB/s
  EXPECT_EQ(bound_of(kBound, 0.7, 96, 8e9), GpuBound::launch);            // 5.8 us a node
  EXPECT_EQ(bound_of(kBound, 5, 96, 80e9), GpuBound::compute);            // 444 FLOP a byte
  EXPECT_EQ(bound_of(kBound, 5, 96, 1e9), GpuBound::memory);              // 5.6 FLOP a byte
  EXPECT_EQ(bound_of(kBound, 5, 96, 8e9), GpuBound::unclear);             // 44 FLOP a byte
  GpuRunBuilder builder;
  builder.run.gpu_ceilings.reset();
  builder.add_gpu({}, 0.9, 35);
  EXPECT_FALSE(limits_of(builder).distance);
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("peak rates were not measured"), std::string::npos);
}

TEST(GpuLimits, judge_without_telemetry_by_the_cost_of_launches) {
  GpuRunBuilder builder;
  builder.add_gpu({{"io_binding", "device"}}, 0.3, -1);  // 120 launches of 2 µs
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("how busy the GPU was is not known"),
            std::string::npos);
}

// ResNet-50's defaults beside a slow CPU of an H200 host were "memory-bound, 27 times that limit": no window of 0.1 s
// says how busy the GPU was, and launches took a fifth of the time, memory traffic a twentieth.
TEST(GpuLimits, do_not_blame_what_explains_nothing_where_the_gpu_was_not_watched) {
  GpuRunBuilder builder;
  builder.run.tensor_location = "device";
  builder.run.runtime_graphs = {kNothingFused};
  builder.add_gpu({}, 1.2, -1);  // 120 launches of 2 µs are 20 %, memory traffic 4 %
  EXPECT_EQ(limits_of(builder).bound, GpuBound::launch);
  EXPECT_NE(fakes::text_of(bound_finding(builder).title).find("launches explain more of an inference than"),
            std::string::npos)
      << fakes::text_of(bound_finding(builder).title);
  GpuRunBuilder slow_kernels;
  slow_kernels.run.tensor_location = "device";
  slow_kernels.add_gpu({}, 7.4, -1);  // launches are 3 %, all else less
  EXPECT_EQ(limits_of(slow_kernels).bound, GpuBound::unclear);
  EXPECT_FALSE(limits_of(slow_kernels).slow_kernels) << "the card may as well have waited";
  EXPECT_EQ(
      fakes::text_of(bound_finding(slow_kernels).title),
      "What limits trial 1 is not clear: arithmetic takes at least 0.3 %, memory traffic up to 0.6 %, launches up "
      "to 3 % of an inference");
}

// ResNet-50 with cuDNN's fallback was "memory-bound: about 1 % of an inference", with the advice to halve the traffic.
TEST(GpuLimits, do_not_blame_what_explains_nothing_where_the_gpu_is_busy) {
  GpuRunBuilder builder;
  builder.run.tensor_location = "device";
  builder.run.model.node_counts = {{"Conv", 53}, {"Relu", 67}};
  builder.run.runtime_graphs = {{"extended", 120, 300e6, ""}};
  builder.add_gpu({{"cudnn_conv_algo_search", "DEFAULT"}}, 7.4, 99);
  const auto limits = limits_of(builder);
  EXPECT_EQ(limits.bound, GpuBound::unclear);
  EXPECT_TRUE(limits.slow_kernels);
  EXPECT_FALSE(limits.distance);
  const auto finding = bound_finding(builder);
  EXPECT_EQ(fakes::text_of(finding.title),
            "Slow kernels (trial 1): they run 99 % of the time, but arithmetic explains 0.3 % and memory traffic 1 % "
            "of it");
  EXPECT_NE(fakes::text_of(finding.advice).find("cudnn_conv_algo_search=EXHAUSTIVE"), std::string::npos)
      << fakes::text_of(finding.advice);
  builder.run.model.node_counts = {{"MatMul", 120}};
  EXPECT_NE(fakes::text_of(bound_finding(builder).advice).find("profiler"), std::string::npos)
      << fakes::text_of(bound_finding(builder).advice);
}

TEST(GpuLimits, send_to_a_profiler_where_no_setting_explains_slow_kernels) {
  GpuRunBuilder builder;
  builder.add_gpu(kBound, 7.4, 99);
  EXPECT_TRUE(limits_of(builder).slow_kernels);
  const auto finding = bound_finding(builder);
  EXPECT_NE(fakes::text_of(finding.title).find("memory traffic up to 0.6 % of it"), std::string::npos)
      << fakes::text_of(finding.title);
  EXPECT_NE(fakes::text_of(finding.advice).find("profiler"), std::string::npos) << fakes::text_of(finding.advice);
}

TEST(GpuLimits, do_not_blame_the_only_known_ceiling_where_it_explains_nothing) {
  GpuRunBuilder builder;
  builder.run.gpu_ceilings->matmul_tf32_tflops.reset();
  builder.run.model.flops = 1e9;  // 5.6 FLOP a byte: memory traffic takes longer than arithmetic, but 1 % of the time
  builder.run.runtime_graphs = {kNothingFused};
  builder.add_gpu(kBound, 5, 96);
  EXPECT_EQ(limits_of(builder).bound, GpuBound::unclear);
  EXPECT_EQ(
      fakes::text_of(bound_finding(builder).title),
      "What limits trial 1 is not clear: memory traffic takes about 0.9 %, copies at least 0.2 % of an inference");
}

TEST(GpuLimits, believe_the_cards_own_count_of_work_more_than_the_drivers_average) {
  GpuRunBuilder builder;
  auto& measurement = builder.add_gpu(kBound, 2, 99);
  measurement.gpu->busy = 0.25;
  EXPECT_DOUBLE_EQ(limits_of(builder).busy.value_or(0), 0.25);
}

TEST(GpuLimits, take_how_busy_the_gpu_was_from_the_same_settings_timed_for_longer) {
  GpuRunBuilder builder;
  builder.add_gpu(kBound, 2, -1);
  const auto ranking = rank(builder.run, builder.outcomes);
  schema::Measurement isolated;
  isolated.gpu.emplace().busy = 0.9;
  const auto limits = gpu_limits(builder.run, ranking.at(0), &isolated);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->busy, 0.9);
  EXPECT_TRUE(limits->busy_isolated);

  auto& verdict = builder.run.verdict.emplace();
  verdict.configuration = kBound;
  verdict.isolated_key = "isolated";
  builder.outcomes["isolated"].measurement = isolated;
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("kernels ran 90 % of the time alone in a process"),
            std::string::npos)
      << fakes::text_of(bound_finding(builder).evidence);
}

TEST(GpuLimits, take_the_share_of_an_inference_from_the_window_with_several_callers) {
  GpuRunBuilder builder;
  auto& measurement = builder.add_gpu(kBound, 2, 99);
  measurement.concurrency = 4;
  measurement.wall_ns /= 4;
  EXPECT_NEAR(limits_of(builder).inference_ns, 0.5e6, 1);
}

TEST(GpuLimits, leave_outputs_of_unknown_size_out_and_say_so) {
  GpuRunBuilder builder;
  builder.run.model.outputs.push_back({"boxes", "float", {-1, 4}, {"found", ""}});
  builder.add_gpu({}, 0.9, 35);
  EXPECT_FALSE(limits_of(builder).work.outputs_known);
  EXPECT_NEAR(limits_of(builder).work.output_bytes, 4000, 1e-9);
  EXPECT_NE(fakes::text_of(bound_finding(builder).evidence).find("outputs of unknown size are left out"),
            std::string::npos);
}

TEST(GpuLimits, say_nothing_of_a_cpu_or_of_a_model_without_known_work) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 0.9, 35);
  builder.run.provider = "cpu";
  EXPECT_FALSE(gpu_limits(builder.run, rank(builder.run, builder.outcomes).at(0)));
  builder.run.provider = "cuda";
  builder.run.model = {};
  EXPECT_FALSE(gpu_limits(builder.run, rank(builder.run, builder.outcomes).at(0)));
}

}  // namespace
}  // namespace ridgeline::analysis
