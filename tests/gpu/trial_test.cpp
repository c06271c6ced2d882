// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <string>

#include "analysis/summary.hpp"
#include "device_fixture.hpp"
#include "fakes/words.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::execute {
namespace {

using schema::Configuration;
using schema::TrialStatus;

constexpr double kTf32Tolerance = 1e-2;
constexpr double kFp32Tolerance = 1e-4;

TEST_F(DeviceTrialTest, a_trial_tells_what_the_gpu_did) {
  auto long_enough = spec(convolutions(), {1, 8, 64, 64});
  long_enough.plan.min_time_s = 1.2;
  long_enough.plan.max_time_s = 5;
  const auto outcome = run(long_enough);
  ASSERT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
  ASSERT_TRUE(outcome.measurement->gpu);
  const auto& gpu = *outcome.measurement->gpu;
  EXPECT_EQ(gpu.uuid, gpu_.uuid);
  EXPECT_FALSE(gpu.samples.empty());
  EXPECT_GT(gpu.timed_to_s, gpu.timed_from_s);
  ASSERT_TRUE(gpu.peak_bytes());
  EXPECT_GT(*gpu.peak_bytes(), 0);
  EXPECT_GT(outcome.measurement->metrics.at("gpu_memory_gb"), 0.01);
  EXPECT_EQ(outcome.measurement->metrics.count("gpu_arena_gb"), 1U);
  EXPECT_TRUE(gpu.energy_mj_per_item);
  if (gpu_.architecture == "Hopper") {
    ASSERT_TRUE(gpu.busy) << "counted from Hopper on";
    EXPECT_GT(*gpu.busy, 0.05);
  }
}

TEST_F(DeviceTrialTest, loaded_libraries_are_named_with_versions) {
  ASSERT_EQ(run(spec(convolutions(), {1, 8, 64, 64})).status, TrialStatus::ok);
  const auto runtime = execute::probe(*executor_, "onnx", "");
  ASSERT_TRUE(runtime) << runtime.error().message;
  const auto& libraries = runtime->provider_libraries.at("cuda");
  EXPECT_TRUE(std::any_of(libraries.begin(), libraries.end(), [](const auto& library) {
    return library.first.find("cudnn") != std::string::npos && !library.second.empty();
  }));
}

/// A replayed graph that reads the inputs it was captured with would miss the reference's second inputs.
TEST_F(DeviceTrialTest, outputs_agree_with_fp32_on_the_gpu_and_on_the_cpu) {
  const auto model = convolutions();
  auto reference = spec(model, {1, 8, 64, 64}, {{"use_tf32", false}});
  TrialOptions options;
  options.reference_outputs = folder_ / "reference";
  const auto noise = execute::make_reference(*executor_, reference, options.reference_outputs);
  ASSERT_TRUE(noise) << noise.error().message;
  const std::vector<std::pair<Configuration, double>> candidates{
      {{{"use_tf32", false}}, kFp32Tolerance},
      {{}, kTf32Tolerance},
      {{{"enable_cuda_graph", true}, {"io_binding", "stream"}, {"use_tf32", false}}, kFp32Tolerance},
      {{{"enable_cuda_graph", true}, {"io_binding", "device"}, {"use_tf32", false}}, kFp32Tolerance},
      {{{"io_binding", "pinned"}, {"use_tf32", false}}, kFp32Tolerance},
      {{{"prefer_nhwc", true}, {"use_tf32", false}}, kFp32Tolerance}};
  for (const auto& [configuration, tolerance] : candidates) {
    const auto outcome = run(spec(model, {1, 8, 64, 64}, configuration), options);
    ASSERT_EQ(outcome.status, TrialStatus::ok) << configuration.to_text() << ": " << message_of(outcome);
    ASSERT_TRUE(outcome.output_error);
    EXPECT_LE(outcome.output_error->scaled_max_abs, tolerance) << configuration.to_text();
    EXPECT_GT(outcome.output_error->elements, 0);
  }

  reference.provider = "cpu";
  reference.configuration = {};
  options.reference_outputs = folder_ / "cpu";
  ASSERT_TRUE(execute::make_reference(*executor_, reference, options.reference_outputs));
  const auto outcome = run(spec(model, {1, 8, 64, 64}, {{"use_tf32", false}}), options);
  ASSERT_TRUE(outcome.output_error) << message_of(outcome);
  EXPECT_LE(outcome.output_error->scaled_max_abs, kFp32Tolerance);
}

TEST_F(DeviceTrialTest, a_rewrite_that_is_left_out_changes_the_graph_but_not_the_outputs) {
  const auto model = biased_product();
  const Configuration fused{{"use_tf32", false}};
  const auto apart = fused.with("disable_specified_optimizers", "MatMulAddFusion");
  TrialOptions options;
  options.reference_outputs = folder_ / "reference";
  ASSERT_TRUE(execute::make_reference(*executor_, spec(model, {2, 3, 8}, fused), options.reference_outputs));
  const auto outcome = run(spec(model, {2, 3, 8}, apart), options);
  ASSERT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
  ASSERT_TRUE(outcome.output_error);
  EXPECT_LE(outcome.output_error->scaled_max_abs, kFp32Tolerance);
  const auto whole = execute::runtime_graph(*executor_, spec(model, {2, 3, 8}, fused));
  const auto parts = execute::runtime_graph(*executor_, spec(model, {2, 3, 8}, apart));
  ASSERT_TRUE(whole && parts);
  EXPECT_EQ(whole->nodes, 3) << "a Gemm between two Reshapes";
  EXPECT_EQ(parts->nodes, 2) << "MatMul, Add";
}

TEST_F(DeviceTrialTest, arena_settings_reach_the_provider) {
  constexpr std::int64_t kLarge = 512 << 20;
  const auto arena_gb = [&](const Configuration& configuration) {
    const auto outcome = run(spec(convolutions(), {1, 8, 64, 64}, configuration));
    EXPECT_EQ(outcome.status, TrialStatus::ok) << configuration.to_text() << ": " << message_of(outcome);
    return outcome.measurement ? outcome.measurement->metrics.at("gpu_memory_gb") : 0;
  };
  // Half a GB in one block, whatever the model needs; a limit on the arena still holds beside it.
  const double usual_gb = arena_gb({});
  EXPECT_GT(arena_gb({{"initial_chunk_size_bytes", kLarge}}), usual_gb + 0.4);
  const auto refused =
      run(spec(memory_eater(), {1000, 1}, {{"max_dead_bytes_per_chunk", 1 << 20}, {"gpu_mem_limit_gb", 0.1}}));
  EXPECT_EQ(refused.status, TrialStatus::out_of_memory) << message_of(refused);
  EXPECT_GT(arena_gb({{"use_cuda_mempool", true}, {"cuda_mempool_release_threshold", kLarge}}), 0);
  const auto unlimited = run(spec(memory_eater(), {1000, 1}, {{"use_cuda_mempool", true}, {"gpu_mem_limit_gb", 0.1}}));
  EXPECT_EQ(unlimited.status, TrialStatus::ok) << message_of(unlimited);
}

/// Sessions that share an arena have one, and the runtime tells all of it of each of them.
TEST_F(DeviceTrialTest, a_shared_arena_is_counted_once) {
  const auto metrics_of = [&](int sessions) {
    const Configuration configuration{{"max_dead_bytes_per_chunk", 1 << 20}, {"parallel_sessions", sessions}};
    const auto outcome = run(spec(chain(), {1, 512}, configuration));
    EXPECT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
    return outcome.measurement ? outcome.measurement->metrics : std::map<std::string, double>();
  };
  const auto one = metrics_of(1);
  const auto two = metrics_of(2);
  // Both sessions' weights are in it, a MiB each: counted once a session it would be four.
  for (const auto* key : {"gpu_weights_gb", "gpu_arena_gb"}) {
    ASSERT_TRUE(one.count(key) == 1 && two.count(key) == 1) << key;
    EXPECT_GT(two.at(key), one.at(key)) << key;
    EXPECT_LT(two.at(key), 3 * one.at(key)) << key;
  }
}

/// A process that has worked on one stream alone begins its kernels earlier: its first trial would lead the ranking.
TEST_F(DeviceTrialTest, the_first_session_of_a_process_is_no_faster_than_later_ones) {
  const auto model = chain();
  const auto median_us = [&](bool isolated) {
    auto trial = spec(model, {1, 512}, {{"enable_cuda_graph", true}, {"io_binding", "stream"}});
    trial.isolated = isolated;
    trial.plan.max_time_s = 0.5;
    const auto outcome = run(trial);
    EXPECT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
    return outcome.measurement ? stats::quantile(outcome.measurement->latency_ns, 0.5) / 1e3 : 0;
  };
  const double first = median_us(false);
  median_us(false);
  const double later = median_us(false);
  const double alone = median_us(true);
  std::printf("first %.1f us, later %.1f us, alone %.1f us\n", first, later, alone);
  EXPECT_NEAR(first / later, 1, 0.03);
  EXPECT_LT(alone, later * 1.03);
}

TEST_F(DeviceTrialTest, sessions_in_flight_share_the_gpu) {
  const auto outcome = run(spec(convolutions(), {1, 8, 64, 64}, {{"parallel_sessions", 2}}));
  ASSERT_EQ(outcome.status, TrialStatus::ok) << message_of(outcome);
  EXPECT_EQ(outcome.measurement->concurrency, 2);
}

TEST_F(DeviceTrialTest, threads_share_one_session) {
  const auto shared = run(spec(convolutions(), {1, 8, 64, 64}, {{"concurrent_runs", 2}, {"io_binding", "device"}}));
  ASSERT_EQ(shared.status, TrialStatus::ok) << message_of(shared);
  EXPECT_EQ(shared.measurement->concurrency, 2);
  const auto graph = run(spec(convolutions(), {1, 8, 64, 64},
                              {{"concurrent_runs", 2}, {"io_binding", "device"}, {"enable_cuda_graph", true}}));
  EXPECT_EQ(graph.status, TrialStatus::unsupported);
  EXPECT_NE(message_of(graph).find("a CUDA graph belongs to one run at a time"), std::string::npos)
      << message_of(graph);
}

TEST_F(DeviceTrialTest, a_configuration_is_not_told_from_itself_by_much) {
  schema::PairedSpec pair;
  pair.base = spec(convolutions(), {1, 8, 64, 64}, {{"enable_cuda_graph", true}, {"io_binding", "stream"}});
  pair.other = pair.base.configuration;
  pair.plan.max_time_s = 1;
  pair.plan.min_time_s = 0.5;
  const auto outcome = execute::run_pair(*executor_, pair);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, TrialStatus::ok) << fakes::text_of(outcome->failure->message);
  const auto& blocks = outcome->measurement->blocks;
  EXPECT_GE(blocks.size(), 16U);
  EXPECT_GT(std::count_if(blocks.begin(), blocks.end(), [](const auto& block) { return block.round > 0; }), 0);
  const auto median_of = [&](char arm) {
    std::vector<double> times;
    for (const auto& block : blocks)
      if (block.arm == arm) times.insert(times.end(), block.latency_ns.begin(), block.latency_ns.end());
    return stats::quantile(times, 0.5);
  };
  EXPECT_NEAR(median_of('A') / median_of('B'), 1, 0.2);
}

}  // namespace
}  // namespace ridgeline::execute
