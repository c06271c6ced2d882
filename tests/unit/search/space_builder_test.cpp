// SPDX-License-Identifier: Apache-2.0
#include "search/space_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/built_space.hpp"
#include "fakes/words.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Value;

SpaceInput input_with_cores(int physical, int logical, double usable) {
  SpaceInput input;
  input.provider = "cpu";
  input.environment.logical_cpus = logical;
  input.environment.physical_cores = physical;
  input.environment.usable_cpus = usable;
  input.environment.memory_available_bytes = std::int64_t{8} << 30;
  for (int cpu = 0; cpu < logical; ++cpu) input.environment.affinity.push_back(cpu);
  input.model.nodes = 100;
  input.model.node_counts = {{"Conv", 40}, {"Relu", 40}, {"Add", 20}};
  input.model.parameter_types = {{"float", 1000}};
  input.model.shapes = {{{"x", {1, 3, 8, 8}}}};
  input.runtime = {.name = "onnxruntime",
                   .version = "1.29.0",
                   .library_path = "",
                   .library_sha256 = "",
                   .providers = {},
                   .loaded_libraries = {}};
  return input;
}

TEST(SpaceBuilder, thread_candidates_come_from_the_cores_that_are_usable) {
  EXPECT_EQ(values(build(input_with_cores(2, 2, 2)), "intra_op_num_threads"), (std::vector<Value>{1, 2}));
  EXPECT_EQ(values(build(input_with_cores(6, 12, 12)), "intra_op_num_threads"),
            (std::vector<Value>{1, 2, 3, 4, 6, 8, 12}));
  const auto quota = build(input_with_cores(16, 32, 2.5));
  EXPECT_EQ(values(quota, "intra_op_num_threads"), (std::vector<Value>{1, 2, 3}));
  const auto note = std::find_if(quota.pruned.begin(), quota.pruned.end(),
                                 [](const auto& pruned) { return pruned.key == "intra_op_num_threads"; });
  ASSERT_NE(note, quota.pruned.end());
  EXPECT_EQ(note->values, (std::vector<Value>{16, 32}));
  EXPECT_NE(fakes::text_of(note->reason).find("2.5 of 32"), std::string::npos);
}

TEST(SpaceBuilder, every_catalogue_row_is_searched_or_pruned_with_a_reason) {
  auto input = input_with_cores(4, 8, 8);
  for (const auto objective : {schema::Objective::latency, schema::Objective::throughput}) {
    input.objective = objective;
    const auto built = build(input);
    for (const auto& param : schema::catalog()) {
      const bool for_cpu = param.providers.empty() ||
                           std::find(param.providers.begin(), param.providers.end(), "cpu") != param.providers.end();
      if (!for_cpu) continue;
      EXPECT_NE(built.space.dimension(param.key) == nullptr, reason(built, param.key).empty()) << param.key;
    }
  }
}

TEST(SpaceBuilder, one_usable_core_leaves_nothing_about_threads) {
  const auto built = build(input_with_cores(1, 1, 1));
  for (const auto* key : {"intra_op_num_threads", "intra_op_allow_spinning", "execution_mode", "dynamic_block_base"})
    EXPECT_NE(reason(built, key).find("one usable core"), std::string::npos) << key;
  // With a quota of one core the automatic count still starts a thread a core; one thread must be tried.
  EXPECT_EQ(values(build(input_with_cores(8, 8, 1)), "intra_op_num_threads"), std::vector<Value>{1});
}

TEST(SpaceBuilder, sessions_and_batches_are_for_throughput_only) {
  auto input = input_with_cores(8, 8, 8);
  input.model.batch_is_dynamic = true;
  auto built = build(input);
  EXPECT_NE(reason(built, "parallel_sessions").find("objective latency"), std::string::npos);
  EXPECT_NE(reason(built, "batch_size").find("objective latency"), std::string::npos);
  input.objective = schema::Objective::throughput;
  built = build(input);
  EXPECT_EQ(values(built, "parallel_sessions"), (std::vector<Value>{2, 4, 8}));
  EXPECT_EQ(values(built, "batch_size"), (std::vector<Value>{2, 4, 8, 16, 32}));
  EXPECT_TRUE(built.space.allows({{"parallel_sessions", 4}, {"intra_op_num_threads", 2}}));
  EXPECT_FALSE(built.space.allows({{"parallel_sessions", 4}, {"intra_op_num_threads", 4}}));
  EXPECT_FALSE(built.space.allows({{"parallel_sessions", 2}})) << "the automatic count is eight threads a session";
}

TEST(SpaceBuilder, batches_stop_where_activations_fill_a_quarter_of_the_memory) {
  auto input = input_with_cores(8, 8, 8);
  input.objective = schema::Objective::throughput;
  input.model.batch_is_dynamic = true;
  input.model.min_bytes = 0.3e9;
  EXPECT_EQ(values(build(input), "batch_size"), (std::vector<Value>{2, 4}));
  input.model.batch_is_dynamic = false;
  input.request.values = {{"batch_size", {4}}};
  EXPECT_NE(reason(build(input), "batch_size").find("fixed"), std::string::npos) << "not even on request";
}

/// A PyTorch model of one input with two rows.
SpaceInput code_input() {
  auto input = input_with_cores(8, 8, 8);
  const auto& row = schema::torch_providers().front();
  input.provider = row.id;
  input.model = {};
  input.model.provider = row.id;
  input.model.shapes = {{{"x", {2, 3}}}};
  input.model.batch_axis_size = 2;
  input.model.batch_is_dynamic = true;
  input.runtime = {};
  input.runtime.name = "torch";
  input.runtime.version = "2.2.0";
  return input;
}

std::string reason_of(const BuiltSpace& built, const std::string& key, const Value& value) {
  for (const auto& pruned : built.pruned)
    if (pruned.key == key && pruned.values == std::vector<Value>{value}) return fakes::text_of(pruned.reason);
  return "";
}

TEST(SpaceBuilder, half_precision_in_pytorch_is_searched_where_it_is_asked_for) {
  auto input = code_input();
  input.environment.isa = {"avx512f", "avx512_bf16"};
  for (const auto* precision : {"", "fp32"}) {
    input.precision = precision;
    EXPECT_NE(reason(build(input), "torch_precision").find("--precision auto"), std::string::npos) << precision;
  }
  input.precision = "auto";
  EXPECT_EQ(values(build(input), "torch_precision"),
            (std::vector<Value>{"autocast_fp16", "autocast_bf16", "fp16", "bf16"}));
  input.precision = "fp16";
  EXPECT_EQ(values(build(input), "torch_precision"), (std::vector<Value>{"autocast_fp16", "fp16"}));
  input.precision = "bf16";
  EXPECT_EQ(values(build(input), "torch_precision"), (std::vector<Value>{"autocast_bf16", "bf16"}));
}

TEST(SpaceBuilder, half_precision_that_this_cpu_or_torch_lacks_is_left_out_with_a_reason) {
  auto input = code_input();
  input.precision = "auto";
  auto built = build(input);
  EXPECT_EQ(values(built, "torch_precision"), (std::vector<Value>{"autocast_fp16", "fp16"}));
  for (const auto* value : {"autocast_bf16", "bf16"})
    EXPECT_NE(reason_of(built, "torch_precision", value).find("no bf16 instructions"), std::string::npos);
  input.environment.isa = {"amx_bf16"};
  input.runtime.version = "2.1.2";
  built = build(input);
  EXPECT_EQ(values(built, "torch_precision"), (std::vector<Value>{"autocast_bf16", "fp16", "bf16"}));
  EXPECT_NE(reason_of(built, "torch_precision", "autocast_fp16").find("PyTorch 2.2"), std::string::npos);
}

TEST(SpaceBuilder, gpus_before_ampere_compute_in_fp16_only) {
  auto input = code_input();
  input.provider = input.model.provider = schema::torch_providers().back().id;
  input.precision = "auto";
  input.environment.gpus.emplace_back().compute_capability = "7.5";
  EXPECT_EQ(values(build(input), "torch_precision"), (std::vector<Value>{"autocast_fp16", "fp16"}));
  input.environment.gpus.front().compute_capability = "9.0";
  EXPECT_EQ(values(build(input), "torch_precision").size(), 4U);
}

TEST(SpaceBuilder, pytorch_compiles_for_varying_shapes_where_inputs_vary) {
  auto input = code_input();
  EXPECT_EQ(reason(build(input), "compile_dynamic"), "the input sets have the same shapes");
  EXPECT_NE(reason(build(input), "compile_fullgraph").find("--set"), std::string::npos);
  input.model.shapes.push_back({{"x", {2, 5}}});
  EXPECT_EQ(values(build(input), "compile_dynamic"), (std::vector<Value>{false, true}));
}

TEST(SpaceBuilder, batches_of_a_pytorch_model_are_multiples_of_the_functions_rows) {
  auto input = code_input();
  EXPECT_NE(reason(build(input), "batch_size").find("objective latency"), std::string::npos);
  input.objective = schema::Objective::throughput;
  EXPECT_EQ(values(build(input), "batch_size"), (std::vector<Value>{4, 8, 16, 32}));
  EXPECT_EQ(build(input).space.dimension("parallel_sessions"), nullptr);
  input.model.batch_axis_size = 100;
  EXPECT_EQ(values(build(input), "batch_size"), (std::vector<Value>{200, 400}));
  input.request.fixed = {{"batch_size", 1}};
  input.request.asked_by["batch_size"] = "--batch 1";
  const auto refused = build_space(input);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "--batch 1: 1 means the 100 rows that the function returns");
}

TEST(SpaceBuilder, inputs_of_differing_first_dimensions_have_no_batch) {
  auto input = code_input();
  input.objective = schema::Objective::throughput;
  input.model.shapes = {{{"x", {2, 3}}, {"scale", {}}, {"table", {16, 3}}}};
  input.model.batch_axis_size.reset();
  input.model.batch_is_dynamic = false;
  const auto* why = "the first dimension of input \"x\" is 2, that of \"table\" is 16: they have no batch in common";
  EXPECT_EQ(reason(build(input), "batch_size"), why);
  input.request.fixed = {{"batch_size", 4}};
  input.request.asked_by["batch_size"] = "--batch 4";
  const auto refused = build_space(input);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, fmt::format("--batch 4: {}", why));
  EXPECT_EQ(refused.error().hint, "leave --batch out");
}

TEST(SpaceBuilder, what_the_loaded_version_does_not_know_is_dropped) {
  auto input = input_with_cores(4, 4, 4);
  input.runtime.version = "1.20.1";
  EXPECT_NE(reason(build(input), "intra_op_spin_duration_us").find("unknown to this version"), std::string::npos);
  input.runtime.version = "1.26.0";
  EXPECT_TRUE(reason(build(input), "intra_op_spin_duration_us").empty());
  input.provider = "openvino";
  input.runtime.version = "1.22.0";
  EXPECT_NE(reason(build(input), "openvino_threads").find("1.23.0 is needed"), std::string::npos);
  EXPECT_FALSE(values(build(input), "openvino_num_of_threads").empty());
  input.runtime.version = "1.24.1";
  EXPECT_NE(reason(build(input), "openvino_num_of_threads").find("1.23.0 replaced it"), std::string::npos);
  EXPECT_FALSE(values(build(input), "openvino_threads").empty());
}

TEST(SpaceBuilder, what_the_cpu_provider_works_with_is_not_searched_for_one_with_threads_of_its_own) {
  auto input = input_with_cores(4, 4, 4);
  input.provider = "openvino";
  input.runtime.version = "1.24.1";
  input.model.node_counts = {{"Conv", 50}, {"Add", 50}};
  const auto built = build(input);
  EXPECT_NE(reason(built, "intra_op_num_threads").find("threads and memory of its own"), std::string::npos);
  EXPECT_EQ(values(built, "graph_optimization_level"), (std::vector<Value>{"disable_all", "basic"}));
  EXPECT_NE(reason(built, "openvino_precision").find("no bf16"), std::string::npos);
  input.environment.isa = {"avx512_bf16"};
  EXPECT_EQ(values(build(input), "openvino_precision"), std::vector<Value>{"bf16"});
  input.provider = "openvino-plugin";
  EXPECT_EQ(values(build(input), "openvino_precision"), (std::vector<Value>{"f32", "bf16"}))
      << "its default depends on the CPU";
  input.request.values = {{"openvino_device", {"CPU"}}};
  EXPECT_NE(reason(build(input), "openvino_device").find("no such setting"), std::string::npos);
}

TEST(SpaceBuilder, a_level_that_the_release_refuses_is_left_out) {
  auto input = input_with_cores(4, 4, 4);
  input.model.node_counts = {{"Conv", 50}, {"Add", 50}};
  input.runtime.version = "1.19.2";
  EXPECT_EQ(values(build(input), "graph_optimization_level"), (std::vector<Value>{"disable_all", "basic", "extended"}));
  input.runtime.version = "1.23.0";
  EXPECT_EQ(values(build(input), "graph_optimization_level").size(), 4U);
}

TEST(SpaceBuilder, the_model_decides_what_can_matter) {
  auto input = input_with_cores(4, 4, 4);
  input.model.node_counts = {{"Relu", 50}, {"Gemm", 50}};
  auto built = build(input);
  EXPECT_NE(reason(built, "execution_mode").find("one chain"), std::string::npos);
  EXPECT_EQ(values(built, "graph_optimization_level"), (std::vector<Value>{"disable_all", "basic", "extended"}));
  EXPECT_NE(reason(built, "enable_mem_pattern").find("same input shape"), std::string::npos);
  input.model.node_counts = {{"Relu", 100}};
  EXPECT_NE(reason(build(input), "disable_prepacking").find("packs"), std::string::npos);
  input.model.shapes.push_back({{"x", {1, 3, 16, 16}}});
  EXPECT_EQ(values(build(input), "enable_mem_pattern"), std::vector<Value>{false});
  input.model.parameter_types = {{"int8", 10}};
  EXPECT_NE(reason(build(input), "set_denormal_as_zero").find("floating-point"), std::string::npos);
}

TEST(SpaceBuilder, a_workload_without_a_graph_is_not_pruned_by_it) {
  auto input = input_with_cores(4, 4, 4);
  input.model = {};
  input.runtime.name = "synthetic";
  const auto built = build(input);
  for (const auto* key : {"execution_mode", "enable_mem_pattern", "disable_prepacking", "set_denormal_as_zero"})
    EXPECT_FALSE(values(built, key).empty()) << key;
}

TEST(SpaceBuilder, affinities_follow_the_core_topology) {
  auto input = input_with_cores(4, 8, 8);
  EXPECT_NE(reason(build(input), "intra_op_thread_affinities").find("unknown"), std::string::npos);
  input.environment.core_siblings = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const auto built = build(input);
  EXPECT_EQ(values(built, "intra_op_thread_affinities"), std::vector<Value>{"2"});
  EXPECT_TRUE(built.space.allows({{"intra_op_num_threads", 2}, {"intra_op_thread_affinities", "2"}}));
  EXPECT_FALSE(built.space.allows({{"intra_op_num_threads", 4}, {"intra_op_thread_affinities", "2"}}));
  EXPECT_NE(reason(build(input_with_cores(4, 4, 4)), "intra_op_thread_affinities").find("no SMT"), std::string::npos);
}

TEST(SpaceBuilder, the_users_values_replace_candidates_and_overrule_pruning) {
  auto input = input_with_cores(4, 4, 4);
  input.request.values = {
      {"intra_op_num_threads", {3, 12}}, {"use_deterministic_compute", {true}}, {"parallel_sessions", {8}}};
  const auto built = build(input);
  EXPECT_EQ(values(built, "intra_op_num_threads"), (std::vector<Value>{3, 12}));
  EXPECT_EQ(values(built, "use_deterministic_compute"), std::vector<Value>{true});
  EXPECT_TRUE(built.space.allows({{"parallel_sessions", 8}, {"intra_op_num_threads", 12}}));
}

TEST(SpaceBuilder, pinned_excluded_and_unlisted_keys_are_not_searched) {
  auto input = input_with_cores(4, 4, 4);
  input.request.fixed = {{"intra_op_num_threads", 2}};
  input.request.exclude = {"execution_mode"};
  auto built = build(input);
  EXPECT_EQ(built.space.defaults(), (Configuration{{"intra_op_num_threads", 2}}));
  EXPECT_EQ(reason(built, "intra_op_num_threads"), "pinned to 2");
  EXPECT_EQ(reason(built, "execution_mode"), "excluded by request");
  input.request = {};
  input.request.only_listed = true;
  input.request.values = {{"intra_op_num_threads", {1}}};
  built = build(input);
  EXPECT_EQ(built.space.dimensions().size(), 1U);
}

TEST(SpaceBuilder, constraints_cut_the_space_and_unreachable_ones_are_named) {
  auto input = input_with_cores(4, 4, 4);
  input.request.constraints = {"intra_op_num_threads <= 2", "execution_mode == sequential"};
  for (const auto& configuration : build(input).space.enumerate(1000)) {
    EXPECT_TRUE(configuration.get_or("intra_op_num_threads", 0).as_integer() >= 1);
    EXPECT_FALSE(configuration.contains("execution_mode"));
  }
  input.request.constraints.push_back("intra_op_num_threads >= 3");
  const auto message = error_of(input);
  EXPECT_NE(message.find("intra_op_num_threads >= 3"), std::string::npos) << message;
  EXPECT_NE(message.find("unreachable"), std::string::npos) << message;
}

TEST(SpaceBuilder, bad_requests_are_refused_with_the_nearest_name) {
  const auto refused = [](const std::function<void(SpaceRequest&)>& change) {
    auto input = input_with_cores(4, 4, 4);
    change(input.request);
    return error_of(input);
  };
  EXPECT_NE(refused([](auto& r) { r.values = {{"intra_threads", {1}}}; }).find("unknown parameter"), std::string::npos);
  EXPECT_NE(refused([](auto& r) { r.values = {{"execution_mode", {"paralel"}}}; }).find("parallel"), std::string::npos);
  EXPECT_NE(refused([](auto& r) { r.values = {{"execution_mode", {}}}; }).find("without values"), std::string::npos);
  EXPECT_NE(refused([](auto& r) {
              r.values = {{"batch_size", {1}}, {"batch_size", {2}}};
            }).find("twice"),
            std::string::npos);
  EXPECT_NE(refused([](auto& r) { r.fixed = {{"intra_op_num_threads", -1}}; }).find("-1"), std::string::npos);
  EXPECT_NE(refused([](auto& r) { r.exclude = {"execution_mod"}; }).find("execution_mode"), std::string::npos);
  EXPECT_NE(refused([](auto& r) {
              r.exclude = {"execution_mode"};
              r.values = {{"execution_mode", {"parallel"}}};
            }).find("both"),
            std::string::npos);
}

TEST(SpaceBuilder, pinned_affinities_need_their_thread_count) {
  auto input = input_with_cores(8, 8, 8);
  input.request.fixed = {{"intra_op_thread_affinities", "2;3"}};
  EXPECT_NE(error_of(input).find("one group for each thread"), std::string::npos) << error_of(input);
  input.request.fixed.set("intra_op_num_threads", 3);
  EXPECT_FALSE(build(input).space.enumerate(10).empty());
}

TEST(SpaceBuilder, what_the_command_line_asks_for_and_cannot_apply_is_an_error) {
  auto input = input_with_cores(4, 4, 4);
  input.model.inputs = {{"x", "float", {1, 4}, {"", ""}}};
  input.model.batch_axis_size = 1;
  input.request.fixed = {{"batch_size", 3}};
  input.request.asked_by = {{"batch_size", "--batch 3"}};
  EXPECT_EQ(
      error_of(input),
      "--batch 3: the model fixes axis 0 of input \"x\" at 1; export it with a dynamic batch, or leave --batch out");
  input.request.fixed = {{"batch_size", 1}};
  EXPECT_EQ(error_of(input), "");  // what is run anyway
  input.model.batch_axis_size.reset();
  EXPECT_EQ(error_of(input), "");
  input.request.fixed = {};
  input.request.values = {{"batch_size", {1, 3}}};
  EXPECT_NE(error_of(input).find("the model fixes axis 0"), std::string::npos);
  input.request.values = {};
  input.request.fixed = {{"cudnn_conv_algo_search", "HEURISTIC"}};
  input.request.asked_by = {{"cudnn_conv_algo_search", "--set cudnn_conv_algo_search=HEURISTIC"}};
  EXPECT_EQ(error_of(input), "--set cudnn_conv_algo_search=HEURISTIC: provider cpu has no such setting; leave it out");
}

}  // namespace
}  // namespace ridgeline::search
