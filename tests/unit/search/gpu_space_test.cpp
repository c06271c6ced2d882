// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/json.hpp"
#include "fakes/built_space.hpp"
#include "schema/catalog.hpp"
#include "search/factor.hpp"
#include "search/gpu_rules.hpp"
#include "search/named_space.hpp"
#include "search/relevance.hpp"
#include "search/searcher.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Value;

/// A convolutional fp32 model with fixed shapes on an H200-like GPU.
SpaceInput gpu_input() {
  SpaceInput input;
  input.provider = "cuda";
  input.environment.logical_cpus = 16;
  input.environment.physical_cores = 16;
  input.environment.usable_cpus = 16;
  schema::GpuDescription gpu;
  gpu.memory_bytes = 150'000'000'000;
  gpu.memory_free_bytes = 140'000'000'000;
  input.environment.gpus = {gpu};
  input.model.nodes = 100;
  input.model.node_counts = {{"Conv", 40}, {"Relu", 40}, {"Add", 20}};
  input.model.parameter_types = {{"float", 1000}};
  input.model.inputs = {{"x", "float", {1, 3, 224, 224}, {"", "", "", ""}}};
  input.model.shapes = {{{"x", {1, 3, 224, 224}}}};
  input.runtime.name = "onnxruntime";
  input.runtime.version = "1.29.0";
  return input;
}

SpaceInput with_dynamic_batch(SpaceInput input) {
  input.model.inputs = {{"x", "float", {-1, 3, 224, 224}, {"N", "", "", ""}}};
  input.model.batch_is_dynamic = true;
  return input;
}

TEST(GpuSpace, every_row_of_the_provider_is_searched_or_pruned_with_a_reason) {
  for (const auto* provider : {"cuda", "tensorrt"})
    for (const auto objective : {schema::Objective::latency, schema::Objective::throughput}) {
      auto input = gpu_input();
      input.provider = provider;
      input.objective = objective;
      const auto built = build(input);
      for (const auto& param : schema::catalog()) {
        const bool mine = param.providers.empty() ||
                          std::find(param.providers.begin(), param.providers.end(), provider) != param.providers.end();
        if (mine) {
          EXPECT_NE(built.space.dimension(param.key) == nullptr, reason(built, param.key).empty()) << param.key;
        }
      }
    }
}

TEST(GpuSpace, its_defaults_in_a_graph_are_allowed_and_replay_one) {
  const auto built = build(gpu_input());
  const auto configuration = defaults_in_graph(built.space);
  EXPECT_TRUE(configuration.get_or("enable_cuda_graph", false).as_bool()) << configuration.to_text();
  EXPECT_TRUE(built.space.allows(configuration)) << configuration.to_text();
  auto cpu = gpu_input();
  cpu.provider = "cpu";
  EXPECT_TRUE(defaults_in_graph(build(cpu).space).empty());
}

TEST(GpuSpace, a_convolutional_model_is_searched_for_what_can_matter_on_a_gpu) {
  const auto built = build(gpu_input());
  std::vector<std::string> keys;
  for (const auto& dimension : built.space.dimensions()) keys.push_back(dimension.key);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"cudnn_conv_algo_search", "enable_cuda_graph", "fuse_conv_bias",
                                            "graph_optimization_level", "intra_op_num_threads", "io_binding",
                                            "prefer_nhwc"}));
  EXPECT_EQ(values(built, "cudnn_conv_algo_search"), std::vector<Value>{"HEURISTIC"});
  EXPECT_NE(reason(built, "cudnn_conv_algo_search", {"DEFAULT"}).find("6.7 times as long"), std::string::npos);
  EXPECT_EQ(values(built, "graph_optimization_level"), (std::vector<Value>{"basic"}));
  EXPECT_EQ(values(built, "intra_op_num_threads"), std::vector<Value>{1});
  EXPECT_NE(reason(built, "execution_mode").find("CUDA graphs"), std::string::npos);
  EXPECT_NE(reason(built, "cudnn_conv_use_max_workspace").find("frontend"), std::string::npos);
  EXPECT_NE(reason(built, "tunable_op_enable").find("no effect"), std::string::npos);
  EXPECT_NE(reason(built, "use_tf32").find("accuracy"), std::string::npos);
  EXPECT_NE(reason(built, "gpu_mem_limit_gb").find("guard"), std::string::npos);
  EXPECT_NE(reason(built, "do_copy_in_default_stream").find("races"), std::string::npos);
}

TEST(GpuSpace, convolution_settings_need_convolutions) {
  auto input = gpu_input();
  input.model.node_counts = {{"MatMul", 50}, {"Softmax", 12}};
  auto built = build(input);
  for (const auto* key : {"cudnn_conv_algo_search", "prefer_nhwc", "fuse_conv_bias", "cudnn_conv1d_pad_to_nc1d"})
    EXPECT_NE(reason(built, key).find("no convolution"), std::string::npos) << key;
  input = gpu_input();
  EXPECT_NE(reason(build(input), "cudnn_conv1d_pad_to_nc1d").find("one-dimensional"), std::string::npos);
  input.model.one_dimensional_convolutions = 3;
  EXPECT_EQ(values(build(input), "cudnn_conv1d_pad_to_nc1d"), std::vector<Value>{true});
}

TEST(GpuSpace, attention_kernels_need_fused_attention_and_flash_needs_16_bits) {
  auto input = gpu_input();
  EXPECT_EQ(reason(build(input), "sdpa_kernel").find("the file has no fused attention node"), 0U);
  input.model.node_counts["com.microsoft.MultiHeadAttention"] = 12;
  EXPECT_EQ(values(build(input), "sdpa_kernel"), (std::vector<Value>{2, 16}));
  input.model.parameter_types = {{"float16", 1000}};
  EXPECT_EQ(values(build(input), "sdpa_kernel"), (std::vector<Value>{1, 2, 8, 16}));
}

/// Rows of a landscape that succeeded, those that today's rules leave out among them.
std::map<Configuration, double> recorded(const std::string& model) {
  std::ifstream file(std::string(RL_TEST_DATA "/landscapes/recorded-h200-") + model + "-host.json");
  std::map<Configuration, double> costs;
  const auto landscape = base::Json::parse(file);
  const auto dimensions = landscape.at("dimensions").get<std::vector<schema::Dimension>>();
  for (const auto& row : landscape.at("rows")) {
    Configuration configuration;
    for (std::size_t at = 0; at < dimensions.size(); ++at)
      if (const auto level = row.at(at).get<std::size_t>(); level > 0)
        configuration.set(dimensions[at].key, dimensions[at].values.at(level - 1));
    if (row.at(dimensions.size()).is_number()) costs.emplace(configuration, row.at(dimensions.size()).get<double>());
  }
  return costs;
}

// What the rule below rests on: landscapes recorded later may show that it can go. RT-DETR's outputs are not checked.
TEST(GpuSpace, every_recorded_trial_that_fuses_biases_without_channels_last_was_rejected) {
  int wrong = 0;
  int right = 0;
  for (const auto* model : {"resnet50", "mobilenetv3-large", "vitpose-b", "vit-b-16-n"}) {
    SCOPED_TRACE(model);
    std::ifstream file(std::string(RL_TEST_DATA "/landscapes/recorded-h200-") + model + "-host.json");
    ASSERT_TRUE(file);
    const auto landscape = base::Json::parse(file);
    const auto& dimensions = landscape["dimensions"];
    const auto place = [&](std::string_view key) {
      return static_cast<std::size_t>(
          std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& one) { return one["key"] == key; }) -
          dimensions.begin());
    };
    const auto fused = place("fuse_conv_bias");
    const auto channels_last = place("prefer_nhwc");
    for (const auto& row : landscape["rows"]) {
      if (row[fused] == 0) continue;
      const auto& result = row[dimensions.size()];
      if (row[channels_last] == 0) {
        EXPECT_EQ(result, "rejected_accuracy");
        ++wrong;
      } else {
        EXPECT_TRUE(result.is_number()) << result;
        ++right;
      }
    }
  }
  EXPECT_EQ(wrong, 272);
  EXPECT_EQ(right, 272);
}

// What the other rule rests on. Sessions of one configuration differ by more than these do.
TEST(GpuSpace, in_every_recorded_model_the_stream_is_as_fast_beside_a_graph_as_bound_device_memory) {
  for (const auto* model :
       {"bert-base-128", "mobilenetv3-large", "resnet50", "rtdetr-r50", "vit-b-16-n", "vitpose-b"}) {
    const auto landscape = recorded(model);
    std::vector<double> ratios;
    for (const auto& [configuration, cost] : landscape) {
      if (configuration.get_or("io_binding", "none").as_text() != "stream" || !replays_graph(configuration)) continue;
      const auto twin = landscape.find(configuration.with("io_binding", "device"));
      if (twin != landscape.end()) ratios.push_back(cost / twin->second);
    }
    ASSERT_FALSE(ratios.empty()) << model;
    std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    EXPECT_LE(ratios[ratios.size() / 2], 1.0) << model;
  }
}

TEST(GpuSpace, device_binding_beside_a_graph_is_left_to_who_asks_for_it) {
  const Configuration graph{{"enable_cuda_graph", true}, {"io_binding", "device"}};
  auto input = gpu_input();
  EXPECT_FALSE(build(input).space.allows(graph));
  EXPECT_TRUE(build(input).space.allows({{"io_binding", "device"}}));
  input.request.values = {{"io_binding", {"device", "stream"}}};
  EXPECT_TRUE(build(input).space.allows(graph));
}

TEST(GpuSpace, biases_are_fused_in_channels_last_only_unless_asked_for) {
  const Configuration fused{{"fuse_conv_bias", true}};
  auto input = gpu_input();
  auto built = build(input);
  EXPECT_FALSE(built.space.allows(fused));
  EXPECT_TRUE(built.space.allows(fused.with("prefer_nhwc", true)));
  EXPECT_EQ(values(built, "fuse_conv_bias"), std::vector<Value>{true});
  input.request.values = {{"fuse_conv_bias", {true}}};
  EXPECT_TRUE(build(input).space.allows(fused));
  input = gpu_input();
  input.request.fixed.set("prefer_nhwc", true);
  built = build(input);
  EXPECT_EQ(values(built, "fuse_conv_bias"), std::vector<Value>{true});
  EXPECT_TRUE(built.space.allows(fused.merged(built.space.fixed())));
}

TEST(GpuSpace, no_attention_kernel_is_guessed_to_gain) {
  auto input = gpu_input();
  input.model.node_counts = {{"MatMul", 50}, {"Attention", 12}};
  const auto built = build(input);
  EXPECT_EQ(values(built, "sdpa_kernel"), (std::vector<Value>{2, 16}));
  const auto factors = make_factors(built.space);
  for (const auto at : guessed_factors(factors)) EXPECT_NE(factors[at].name, "sdpa_kernel");
}

TEST(GpuSpace, the_fusion_of_a_product_with_its_bias_is_left_out_where_there_is_one) {
  const std::string key = "disable_specified_optimizers";
  EXPECT_NE(reason(build(gpu_input()), key).find("no matrix product"), std::string::npos);
  auto input = gpu_input();
  input.model.node_counts["MatMul"] = 50;
  const auto built = build(input);
  EXPECT_EQ(values(built, key), std::vector<Value>{"MatMulAddFusion"});
  const auto guessed = guessed_factors(make_factors(built.space));
  ASSERT_FALSE(guessed.empty());
  EXPECT_EQ(make_factors(built.space)[guessed.front()].name, key) << "up to 1.16 times as fast, so it is tried early";
  input.provider = "tensorrt";
  EXPECT_NE(reason(build(input), key).find("builder"), std::string::npos);
  input.provider = "cpu";
  EXPECT_NE(reason(build(input), key).find("CPU"), std::string::npos);
  input.request.values = {{key, {"MatMulAddFusion"}}};
  EXPECT_EQ(values(build(input), key), std::vector<Value>{"MatMulAddFusion"});
}

TEST(GpuSpace, no_fusion_is_left_out_where_it_would_not_happen_unless_asked_for) {
  const Configuration left_out{{"disable_specified_optimizers", "MatMulAddFusion"}};
  auto input = with_dynamic_batch(gpu_input());
  input.model.node_counts["MatMul"] = 50;
  EXPECT_FALSE(build(input).space.allows(left_out)) << "of a product of symbolic shape";
  EXPECT_TRUE(build(input).space.allows(left_out.with("override_free_dimensions", true)));
  EXPECT_FALSE(build(input).space.allows(
      left_out.with("override_free_dimensions", true).with("graph_optimization_level", "basic")));
  EXPECT_EQ(simplify(left_out.with("graph_optimization_level", "disable_all")),
            Configuration({{"graph_optimization_level", "disable_all"}}));
  input.model.shapes = {{{"x", {1, 3, 224, 224}}}, {{"x", {4, 3, 224, 224}}}};
  EXPECT_NE(reason(build(input), "disable_specified_optimizers").find("not known in advance"), std::string::npos);
  input.request.values = {{"disable_specified_optimizers", {"MatMulAddFusion"}}};
  EXPECT_TRUE(build(input).space.allows(left_out));
  EXPECT_TRUE(build(input).space.allows(left_out.with("graph_optimization_level", "basic")));
}

TEST(GpuSpace, versions_before_the_cudnn_frontend_are_searched_by_their_own_rules) {
  auto input = gpu_input();
  input.runtime.version = "1.19.2";
  const auto built = build(input);
  EXPECT_EQ(values(built, "cudnn_conv_use_max_workspace"), std::vector<Value>{false});
  EXPECT_EQ(values(built, "cudnn_conv_algo_search"), (std::vector<Value>{"HEURISTIC", "DEFAULT"}));
  EXPECT_NE(reason(built, "prefer_nhwc").find("1.20.0 is needed"), std::string::npos);
}

TEST(GpuSpace, channels_last_needs_cudnn_9_where_its_version_is_known) {
  auto input = gpu_input();
  for (const auto* version : {"9.19.0", "10.1.0", ""}) {
    input.runtime.provider_libraries["cuda"] = {{"libcudnn.so", version}};
    EXPECT_EQ(values(build(input), "prefer_nhwc"), std::vector<Value>{true}) << version;
  }
  input.runtime.provider_libraries["cuda"] = {{"libcudnn.so", "8.9.7"}};
  const auto built = build(input);
  for (const auto* key : {"prefer_nhwc", "fuse_conv_bias"})
    EXPECT_NE(reason(built, key).find("cuDNN 9, and 8.9.7 is loaded"), std::string::npos) << reason(built, key);
  input.request.values = {{"prefer_nhwc", {true}}};
  EXPECT_EQ(values(build(input), "prefer_nhwc"), std::vector<Value>{true}) << "who asks for it gets it";
  EXPECT_EQ(values(build(input), "fuse_conv_bias"), std::vector<Value>{true});
}

TEST(GpuSpace, a_memory_limit_below_the_weights_is_refused) {
  auto input = gpu_input();
  input.model.parameter_bytes = 437'935'104;
  input.request.fixed = {{"gpu_mem_limit_gb", 0.3}};
  EXPECT_EQ(error_of(input),
            "gpu_mem_limit_gb=0.3: less than the model's weights take, 0.438 GB, without activations; give "
            "another value, or leave it out");
  input.request.asked_by = {{"gpu_mem_limit_gb", "--set gpu_mem_limit_gb=0.3"}};
  EXPECT_EQ(error_of(input).find("--set gpu_mem_limit_gb=0.3: less than"), 0U) << error_of(input);
  input.request.fixed = {{"gpu_mem_limit_gb", 0.438}};
  EXPECT_EQ(error_of(input), "");
  input.request.fixed = {{"gpu_mem_limit_gb", 0.3}};
  for (const auto* elsewhere : {"use_cuda_mempool", "use_device_allocator_for_initializers"}) {
    auto other = input;
    other.request.fixed.set(elsewhere, true);
    EXPECT_EQ(error_of(other), "") << elsewhere;
    other = input;
    other.request.values = {{elsewhere, {false, true}}};
    EXPECT_EQ(error_of(other), "") << elsewhere;
  }
  input.provider = "cpu";
  input.request.asked_by = {};
  EXPECT_EQ(error_of(input), "") << "left out as a setting of another provider";
}

TEST(GpuSpace, listed_memory_limits_below_the_weights_are_left_out_but_for_the_last) {
  auto input = gpu_input();
  input.model.parameter_bytes = 437'935'104;
  input.request.values = {{"gpu_mem_limit_gb", {0.3, 4}}};
  const auto built = build(input);
  EXPECT_EQ(values(built, "gpu_mem_limit_gb"), std::vector<Value>{4});
  EXPECT_EQ(reason(built, "gpu_mem_limit_gb", {0.3}),
            "less than the model's weights take, 0.438 GB, without activations");
  input.request.values = {{"gpu_mem_limit_gb", {0.1, 0.3}}};
  EXPECT_EQ(error_of(input).find("gpu_mem_limit_gb=0.1, 0.3: less than"), 0U) << error_of(input);
}

TEST(GpuSpace, tensorrt_profiles_are_taken_all_three_and_for_free_dimensions_only) {
  auto input = gpu_input();
  input.provider = "tensorrt";
  EXPECT_NE(reason(build(input), "trt_profile_min_shapes").find("already fixed"), std::string::npos);
  input.request.fixed = {{"trt_profile_min_shapes", "x:1x3x224x224"}};
  EXPECT_NE(reason(build(input), "trt_profile_min_shapes").find("already fixed"), std::string::npos);
  input.model.node_counts["NonMaxSuppression"] = 1;  // the sizes behind it are free
  EXPECT_NE(reason(build(input), "trt_profile_min_shapes").find("ignores it without"), std::string::npos);

  input = with_dynamic_batch(input);
  const auto one = build(input);
  EXPECT_EQ(reason(one, "trt_profile_min_shapes"),
            "ONNX Runtime ignores it without trt_profile_opt_shapes and trt_profile_max_shapes");
  EXPECT_FALSE(one.space.fixed().contains("trt_profile_min_shapes"));
  EXPECT_NE(reason(one, "trt_profile_opt_shapes").find("engine"), std::string::npos);
  input.request.asked_by = {{"trt_profile_min_shapes", "--set trt_profile_min_shapes=x:1x3x224x224"}};
  EXPECT_NE(error_of(input).find("ignores it without"), std::string::npos) << error_of(input);
  input.request.values = {{"trt_profile_opt_shapes", {"x:8x3x224x224"}}, {"trt_profile_max_shapes", {"x:8x3x224x224"}}};
  const auto& space = build(input).space;
  const Configuration two{{"trt_profile_min_shapes", "x:1x3x224x224"}, {"trt_profile_opt_shapes", "x:8x3x224x224"}};
  EXPECT_FALSE(space.allows(two));
  EXPECT_TRUE(space.allows(two.with("trt_profile_max_shapes", "x:8x3x224x224")));
}

TEST(GpuSpace, a_graph_needs_device_binding_and_sequential_mode) {
  auto input = gpu_input();
  input.request.values = {{"execution_mode", {"parallel"}}};
  const auto& space = build(input).space;
  EXPECT_FALSE(space.allows({{"enable_cuda_graph", true}}));
  EXPECT_FALSE(space.allows({{"enable_cuda_graph", true}, {"io_binding", "pinned"}}));
  EXPECT_TRUE(space.allows({{"enable_cuda_graph", true}, {"io_binding", "stream"}}));
  EXPECT_FALSE(space.allows({{"enable_cuda_graph", true}, {"io_binding", "stream"}, {"execution_mode", "parallel"}}));
}

TEST(GpuSpace, a_graph_needs_the_runtime_s_own_arena) {
  auto input = gpu_input();
  input.request.values = {{"use_cuda_mempool", {false, true}}};
  const auto built = build(input);
  EXPECT_TRUE(built.space.allows({{"use_cuda_mempool", true}}));
  EXPECT_FALSE(built.space.allows({{"use_cuda_mempool", true}, {"enable_cuda_graph", true}, {"io_binding", "stream"}}));
  EXPECT_TRUE(built.space.allows({{"use_cuda_mempool", false}, {"enable_cuda_graph", true}, {"io_binding", "stream"}}));
}

TEST(GpuSpace, arena_settings_count_only_with_the_arena_that_has_them) {
  const Configuration pool{{"use_cuda_mempool", true}};
  EXPECT_EQ(simplify(pool.with("initial_chunk_size_bytes", 4096).with("gpu_mem_limit_gb", 4)), pool);
  EXPECT_EQ(simplify({{"cuda_mempool_release_threshold", 4096}}), Configuration());
  const Configuration asked{{"arena_extend_strategy", "kSameAsRequested"}};
  EXPECT_EQ(simplify(asked.with("max_power_of_two_extend_bytes", 4096)), asked);
  const Configuration limited{{"max_dead_bytes_per_chunk", 4096}, {"gpu_mem_limit_gb", 4}};
  EXPECT_EQ(simplify(limited), limited);
}

TEST(GpuSpace, one_stream_without_a_graph_can_abort_and_is_left_to_who_asks_for_it) {
  auto input = gpu_input();
  EXPECT_FALSE(build(input).space.allows({{"io_binding", "stream"}}));
  EXPECT_TRUE(build(input).space.allows({{"io_binding", "stream"}, {"enable_cuda_graph", true}}));
  EXPECT_TRUE(build(input).space.allows({{"io_binding", "device"}}));
  input.request.values = {{"io_binding", {"stream"}}};
  EXPECT_TRUE(build(input).space.allows({{"io_binding", "stream"}}));
  input.request.values = {};
  input.request.fixed = {{"io_binding", "stream"}};
  EXPECT_TRUE(build(input).space.allows({{"io_binding", "stream"}}));
}

TEST(GpuSpace, one_cpu_thread_changes_nothing_beside_a_graph_and_is_left_to_who_asks_for_it) {
  auto input = gpu_input();
  const Configuration graph{{"enable_cuda_graph", true}, {"io_binding", "stream"}, {"intra_op_num_threads", 1}};
  EXPECT_FALSE(build(input).space.allows(graph));
  EXPECT_TRUE(build(input).space.allows({{"intra_op_num_threads", 1}}));
  input.request.values = {{"intra_op_num_threads", {1}}};
  EXPECT_TRUE(build(input).space.allows(graph));
  input.request.values = {};
  input.request.fixed = {{"intra_op_num_threads", 1}};
  EXPECT_TRUE(build(input).space.allows(graph));
}

TEST(GpuSpace, a_graph_of_a_dynamic_model_needs_its_dimensions_fixed) {
  const auto fixed = build(gpu_input());
  EXPECT_NE(reason(fixed, "override_free_dimensions").find("already fixed"), std::string::npos);
  auto input = with_dynamic_batch(gpu_input());
  const auto dynamic = build(input);
  EXPECT_EQ(values(dynamic, "override_free_dimensions"), std::vector<Value>{true});
  const Configuration graph{{"enable_cuda_graph", true}, {"io_binding", "stream"}};
  EXPECT_FALSE(dynamic.space.allows(graph));
  EXPECT_TRUE(dynamic.space.allows(graph.with("override_free_dimensions", true)));
  input.model.shapes.push_back({{"x", {8, 3, 224, 224}}});
  const auto mix = build(input);
  EXPECT_NE(reason(mix, "override_free_dimensions").find("several sizes"), std::string::npos);
  EXPECT_TRUE(mix.space.allows(graph)) << "nothing can be fixed, so the trial decides";
  input.model.inputs[0].dim_names[0] = "";
  input.model.shapes.pop_back();
  EXPECT_NE(reason(build(input), "override_free_dimensions").find("no names"), std::string::npos);
}

TEST(GpuSpace, one_session_has_several_runs_only_without_what_belongs_to_one) {
  auto input = gpu_input();
  EXPECT_NE(reason(build(input), "concurrent_runs").find("--set or --space"), std::string::npos);
  input.objective = schema::Objective::throughput;
  input.request.values = {{"concurrent_runs", {2}}};
  const auto space = build(input).space;
  const Configuration two{{"concurrent_runs", 2}};
  EXPECT_TRUE(space.allows(two));
  EXPECT_TRUE(space.allows(two.with("io_binding", "device")));
  EXPECT_FALSE(space.allows(two.with("io_binding", "stream")));
  EXPECT_FALSE(space.allows(two.with("io_binding", "device").with("enable_cuda_graph", true)));
}

TEST(GpuSpace, rules_are_told_by_parameter) {
  const auto rules = gpu_rules_about("enable_cuda_graph");
  for (const auto* text : {"execution_mode=sequential", "io_binding=device or stream", "use_cuda_mempool=false",
                           "override_free_dimensions"})
    EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
      return rule.find(text) != std::string::npos;
    })) << text;
  EXPECT_EQ(gpu_rules_about("fuse_conv_bias").size(), 1U);
  EXPECT_EQ(gpu_rules_about("concurrent_runs").size(), 2U);
  EXPECT_TRUE(gpu_rules_about("enable_cpu_mem_arena").empty());
}

TEST(GpuSpace, control_flow_rules_graphs_out) {
  auto input = gpu_input();
  input.model.has_control_flow = true;
  const auto built = build(input);
  EXPECT_NE(reason(built, "enable_cuda_graph").find("cannot be captured"), std::string::npos);
  EXPECT_EQ(values(built, "use_ep_level_unified_stream"), std::vector<Value>{true});
  EXPECT_FALSE(build(gpu_input()).space.dimension("use_ep_level_unified_stream") != nullptr);
}

TEST(GpuSpace, data_that_stays_on_the_gpu_is_bound_there) {
  auto input = gpu_input();
  EXPECT_EQ(values(build(input), "io_binding"), (std::vector<Value>{"pinned", "device", "stream"}));
  input.tensor_location = "device";
  const auto built = build(input);
  EXPECT_NE(reason(built, "io_binding").find("stays on the GPU"), std::string::npos);
  EXPECT_TRUE(built.space.allows({{"enable_cuda_graph", true}})) << "unset is bound device memory here";
  input.request.values = {{"io_binding", {"stream"}}};
  EXPECT_EQ(values(build(input), "io_binding"), std::vector<Value>{"stream"}) << "who asks for it gets it";
  input.provider = "tensorrt";
  input.request.values = {};
  EXPECT_EQ(values(build(input), "io_binding"), std::vector<Value>{"stream"});
  input.provider = "cuda";
  input.request.values = {{"io_binding", {"pinned", "stream"}}};
  EXPECT_NE(error_of(input).find("io_binding=pinned"), std::string::npos) << error_of(input);
  input.request.values = {};
  input.request.fixed = {{"io_binding", "none"}};
  EXPECT_NE(error_of(input).find("--io device"), std::string::npos) << error_of(input);
}

TEST(GpuSpace, an_impossible_pin_names_the_rule_that_it_breaks) {
  auto input = gpu_input();
  input.request.fixed = {{"enable_cuda_graph", true}, {"io_binding", "pinned"}};
  EXPECT_NE(error_of(input).find("a CUDA graph needs io_binding=device or stream"), std::string::npos)
      << error_of(input);
}

TEST(GpuSpace, throughput_adds_sessions_and_batches_up_to_what_the_memory_holds) {
  auto input = with_dynamic_batch(gpu_input());
  EXPECT_TRUE(values(build(input), "batch_size").empty()) << "objective latency";
  input.objective = schema::Objective::throughput;
  auto built = build(input);
  EXPECT_EQ(values(built, "parallel_sessions"), (std::vector<Value>{2, 4}));
  EXPECT_EQ(values(built, "batch_size"), (std::vector<Value>{2, 4, 8, 16, 32, 64}));
  EXPECT_TRUE(built.space.allows({{"parallel_sessions", 4}})) << "the CPU's cores set no limit";
  input.model.min_bytes = 10e9;
  EXPECT_EQ(values(build(input), "batch_size"), (std::vector<Value>{2, 4}));
}

TEST(GpuSpace, the_arena_s_growth_matters_when_shapes_vary_or_memory_is_bounded) {
  auto input = gpu_input();
  EXPECT_NE(reason(build(input), "arena_extend_strategy").find("same input shape"), std::string::npos);
  input.memory_is_bounded = true;
  EXPECT_EQ(values(build(input), "arena_extend_strategy"), std::vector<Value>{"kSameAsRequested"});
  input = with_dynamic_batch(gpu_input());
  input.model.shapes.push_back({{"x", {8, 3, 224, 224}}});
  EXPECT_EQ(values(build(input), "arena_extend_strategy"), std::vector<Value>{"kSameAsRequested"});
}

TEST(GpuSpace, one_stream_for_the_provider_means_nothing_beside_a_stream_of_ours) {
  auto input = gpu_input();
  input.request.values = {{"use_ep_level_unified_stream", {true}}};
  const auto& space = build(input).space;
  EXPECT_EQ(space.canonical({{"use_ep_level_unified_stream", true}, {"io_binding", "stream"}}),
            (Configuration{{"io_binding", "stream"}}));
  EXPECT_EQ(space.canonical({{"use_ep_level_unified_stream", true}}).size(), 1U);
}

TEST(GpuSpace, tensorrt_sweeps_little_because_every_value_builds_an_engine) {
  auto input = gpu_input();
  input.provider = "tensorrt";
  const auto built = build(input);
  EXPECT_EQ(values(built, "trt_builder_optimization_level"), std::vector<Value>{5});
  EXPECT_NE(reason(built, "trt_fp16_enable").find("engine"), std::string::npos);
  EXPECT_FALSE(built.space.allows({{"trt_cuda_graph_enable", true}}));
  EXPECT_TRUE(built.space.allows({{"trt_cuda_graph_enable", true}, {"io_binding", "device"}}));
  input.model.shapes = {{{"x", {1, 3, 224, 224}}}, {{"x", {4, 3, 224, 224}}}};
  EXPECT_NE(reason(build(input), "trt_cuda_graph_enable").find("one graph"), std::string::npos);
}

TEST(NamedSpace, classic_is_exactly_the_48_combinations_of_the_earlier_tool) {
  auto input = gpu_input();
  input.request.named = "classic";
  const auto built = build(input);
  const auto all = built.space.enumerate(1000);
  EXPECT_EQ(all.size(), 48U);
  EXPECT_EQ(built.space.raw_size(), 48);
  for (const auto& configuration : all) EXPECT_TRUE(configuration.contains("gpu_mem_limit_gb"));
  EXPECT_EQ(values(built, "gpu_mem_limit_gb"), (std::vector<Value>{4.0, 8.0, 16.0, 126.0}));
  const auto searcher = make_searcher("grid", built.space, {});
  ASSERT_TRUE(searcher);
  int proposals = 0;
  while (auto proposal = (*searcher)->propose()) {
    ++proposals;
    (*searcher)->observe(*proposal, {1e6, 1e6, 1e6});
  }
  EXPECT_EQ(proposals, 49) << "and what the user has now";
}

TEST(NamedSpace, classic_leaves_out_limits_that_the_weights_exceed) {
  auto input = gpu_input();
  input.request.named = "classic";
  input.model.parameter_bytes = 5'000'000'000;
  const auto built = build(input);
  EXPECT_EQ(built.space.enumerate(1000).size(), 36U);
  EXPECT_EQ(values(built, "gpu_mem_limit_gb"), (std::vector<Value>{8.0, 16.0, 126.0}));
  EXPECT_NE(reason(built, "gpu_mem_limit_gb", {4.0}).find("weights take, 5 GB"), std::string::npos);
}

TEST(NamedSpace, classic_refuses_what_it_cannot_be) {
  auto input = gpu_input();
  input.request.named = "classic";
  input.provider = "cpu";
  EXPECT_NE(error_of(input).find("the provider is cpu"), std::string::npos) << error_of(input);
  input = gpu_input();
  input.request.named = "classic";
  input.environment.gpus.front().memory_free_bytes.reset();
  EXPECT_NE(error_of(input).find("unknown here"), std::string::npos) << error_of(input);
}

TEST(NamedSpace, pins_and_batches_stay_the_users) {
  auto input = with_dynamic_batch(gpu_input());
  input.objective = schema::Objective::throughput;
  input.request.named = "classic";
  input.request.fixed = {{"gpu_mem_limit_gb", 8.0}};
  input.request.values = {{"batch_size", {1, 8}}};
  EXPECT_EQ(build(input).space.enumerate(1000).size(), 24U);
}

TEST(NamedSpace, an_unknown_name_lists_all_names) {
  auto input = gpu_input();
  input.request.named = "clasic";
  EXPECT_NE(error_of(input).find("did you mean \"classic\""), std::string::npos) << error_of(input);
  EXPECT_NE(error_of(input).find("expected classic or a YAML file"), std::string::npos) << error_of(input);
}

}  // namespace
}  // namespace ridgeline::search
