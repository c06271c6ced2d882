// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_pruning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "search/gpu_rules.hpp"
#include "search/messages.hpp"
#include "search/model_facts.hpp"
#include "search/rule_condition.hpp"

namespace ridgeline::search {
namespace {

using schema::ParamDef;
using schema::Value;
using Reason = std::optional<schema::Message>;
using Provider = schema::ExecutionProvider;
using Model = schema::ModelDescription;

bool has_no_half(const Model& model) { return !uses_type(model, "float16") && !uses_type(model, "bfloat16"); }

/// The first that holds tells. Facts: ONNX Runtime's CUDA provider and measurements on an H200.
constexpr std::array kGpuPrunings{
    PruningRule{.keys = {"use_tf32"},
                .where = {.model = [](const Model& m) { return !uses_type(m, "float"); }},
                .reason = messages::no_fp32_tensors},
    PruningRule{
        .keys = {"use_tf32"}, .where = {.compute_capability = {.before = "8.0"}}, .reason = messages::no_tf32_here},
    PruningRule{.keys = {"use_tf32"}, .reason = messages::tf32_is_accuracy},
    PruningRule{.keys = {"execution_mode"}, .reason = messages::queue_is_in_order},
    PruningRule{.keys = {"inter_op_num_threads", "inter_op_allow_spinning"}, .reason = messages::parallel_only},
    PruningRule{.keys = {"intra_op_allow_spinning", "intra_op_spin_duration_us", "intra_op_spin_backoff_max",
                         "force_spinning_stop", "dynamic_block_base", "intra_op_thread_affinities"},
                .reason = messages::gpu_idle_threads},
    PruningRule{.keys = {"enable_cpu_mem_arena", "set_denormal_as_zero", "disable_prepacking"},
                .reason = messages::acts_on_cpu_kernels},
    PruningRule{.keys = {"gpu_mem_limit_gb"}, .reason = messages::memory_limit_guards},
    PruningRule{.keys = {"do_copy_in_default_stream"}, .reason = messages::copies_race},
    PruningRule{.keys = {"enable_skip_layer_norm_strict_mode"}, .reason = messages::strict_mode_is_accuracy},
    PruningRule{.keys = {"enable_cudnn"}, .reason = messages::cudnn_off_lacks_operators},
    PruningRule{.keys = {"tunable_op_enable", "tunable_op_tuning_enable", "tunable_op_max_tuning_duration_ms"},
                .reason = messages::no_tunables},
    PruningRule{.keys = {"disable_specified_optimizers"},
                .where = {.provider_has = &Provider::compiles_graph},
                .reason = messages::builder_fuses},
    PruningRule{.keys = {"cudnn_conv_use_max_workspace"},
                .where = {.runtime = {.since = "1.20.0"}},
                .reason = messages::frontend_ignores_workspace},
    // Beside a graph 0.986 to 1.014 times the time in 39 pairs of six models on H200s, but for a few unlucky sessions.
    PruningRule{.keys = {"io_binding"},
                .where = {.compute_capability = {.since = "9.0"},
                          .provider_lacks = &Provider::compiles_graph,
                          .about = data_on_device},
                .reason = messages::data_is_bound},
    PruningRule{.keys = {"cudnn_conv_algo_search", "cudnn_conv_use_max_workspace", "prefer_nhwc", "fuse_conv_bias",
                         "cudnn_conv1d_pad_to_nc1d"},
                .where = {.model = [](const Model& m) { return !has_convolution(m); }},
                .reason = messages::no_convolution},
    PruningRule{.keys = {"cudnn_conv1d_pad_to_nc1d"},
                .where = {.model = [](const Model& m) { return m.one_dimensional_convolutions == 0; }},
                .reason = messages::no_1d_convolution},
    PruningRule{.keys = {"disable_specified_optimizers"},
                .where = {.model = [](const Model& m) { return !(has_any(m, {"MatMul"}) && has_any(m, {"Add"})); }},
                .reason = messages::no_biased_product},
    PruningRule{.keys = {"sdpa_kernel"},
                .where = {.model = [](const Model& m) { return !has_fused_attention(m); }},
                .reason = messages::no_fused_attention},
    PruningRule{.keys = {"enable_cuda_graph", "trt_cuda_graph_enable"},
                .where = {.model = [](const Model& m) { return m.has_control_flow; }},
                .reason = messages::control_flow_no_graph},
    PruningRule{.keys = {"use_ep_level_unified_stream"},
                .where = {.model = [](const Model& m) { return !m.has_control_flow; }},
                .reason = messages::one_piece_graph},
    PruningRule{.keys = {"prefer_nhwc"},
                .where = {.cudnn = {.before = "9"}},
                .reason_of = [](const SpaceInput& i) { return messages::nhwc_needs_cudnn9(cudnn_version(i)); }},
    PruningRule{.keys = {"fuse_conv_bias"},
                .where = {.cudnn = {.before = "9"},
                          .about = [](const SpaceInput& i) { return !asks_for(i.request, "prefer_nhwc"); }},
                .reason_of = [](const SpaceInput& i) { return messages::nhwc_only_cudnn9(cudnn_version(i)); }},
    PruningRule{.keys = {"arena_extend_strategy"},
                .where = {.model = [](const Model& m) { return !shapes_vary(m); },
                          .about = [](const SpaceInput& i) { return !i.memory_is_bounded; }},
                .reason = messages::same_shape_arena},
    PruningRule{
        .keys = {"trt_cuda_graph_enable"}, .where = {.model = shapes_vary}, .reason = messages::one_graph_one_shape},
    PruningRule{
        .keys = {"disable_specified_optimizers"},
        .where = {.model =
                      [](const Model& m) { return has_free_dimensions(m) && !some_free_dimension_is_constant(m); }},
        .reason = messages::unknown_shape_not_fused},
    PruningRule{.keys = {"override_free_dimensions"},
                .where = {.model = [](const Model& m) { return !has_free_dimensions(m); }},
                .reason = messages::dimensions_fixed},
    PruningRule{
        .keys = {"override_free_dimensions"},
        .where = {.model = [](const Model& m) { return !some_free_dimension_is_constant(m) && shapes_vary(m); }},
        .reason = messages::sizes_vary},
    PruningRule{.keys = {"override_free_dimensions"},
                .where = {.model = [](const Model& m) { return !some_free_dimension_is_constant(m); }},
                .reason = messages::dimensions_nameless},
    PruningRule{.keys = {"graph_optimization_level"}, .value = "extended", .reason = messages::rewrites_for_cpus},
    PruningRule{.keys = {"graph_optimization_level"}, .value = "layout", .reason = messages::rewrites_for_cpus},
    PruningRule{.keys = {"graph_optimization_level"}, .value = "disable_all", .reason = messages::dead_nodes_stay},
    PruningRule{.keys = {"cudnn_conv_algo_search"},
                .value = "DEFAULT",
                .where = {.runtime = {.since = "1.20.0"}},
                .reason = messages::cudnn_fallback_slow},
    PruningRule{
        .keys = {"sdpa_kernel"}, .value = "1", .where = {.model = has_no_half}, .reason = messages::flash_needs_half},
    PruningRule{
        .keys = {"sdpa_kernel"}, .value = "8", .where = {.model = has_no_half}, .reason = messages::flash_needs_half},
    PruningRule{.keys = {"sdpa_kernel"},
                .value = "1",
                .where = {.compute_capability = {.before = "8.0"}},
                .reason = messages::flash_needs_cc80},
};

/// Whether some configuration has the flag on.
bool may_be_on(const SpaceRequest& request, const std::string& key) {
  return request.fixed.get_or(key, false).as_bool() ||
         std::any_of(request.values.begin(), request.values.end(), [&](const auto& dimension) {
           const auto& values = dimension.values;
           return dimension.key == key && std::find(values.begin(), values.end(), Value(true)) != values.end();
         });
}

/// A node whose outputs are as large as its data says: free dimensions within a model whose inputs have none.
bool has_sizes_from_data(const schema::ModelDescription& model) {
  return model.has_control_flow || has_any(model, {"NonZero", "NonMaxSuppression", "Compress", "Unique"});
}

}  // namespace

Reason why_impossible_on_gpu(const ParamDef& param, const SpaceInput& input) {
  const auto is_profile = [&](const char* key) { return param.key == key; };
  if (std::none_of(kTrtProfiles.begin(), kTrtProfiles.end(), is_profile)) return std::nullopt;
  if (knows_model(input) && !has_free_dimensions(input.model) && !has_sizes_from_data(input.model))
    return messages::profiles_fixed();
  std::vector<std::string> missing;
  for (const auto* key : kTrtProfiles)
    if (!asks_for(input.request, key)) missing.emplace_back(key);
  if (missing.empty() || !asks_for(input.request, param.key)) return std::nullopt;
  return messages::ignored_without(missing);
}

Reason why_impossible_on_gpu(const ParamDef& param, const Value& value, const SpaceInput& input) {
  if (param.key != "gpu_mem_limit_gb" || !schema::provider_of(input.provider).weights_in_arena) return std::nullopt;
  const auto weights = static_cast<double>(input.model.parameter_bytes);
  if (value.as_number() * 1e9 >= weights) return std::nullopt;
  // Neither keeps the weights in the arena that is limited.
  if (may_be_on(input.request, "use_cuda_mempool") || may_be_on(input.request, "use_device_allocator_for_initializers"))
    return std::nullopt;
  // Not always out of memory: ONNX Runtime 1.29 may reserve the weights past the limit, and its arena then has none.
  return messages::limit_below_weights(std::ceil(weights / 1e6) / 1e3);
}

Reason why_pointless_on_gpu(const ParamDef& param, const SpaceInput& input) {
  if (!on_gpu(input)) return std::nullopt;
  if (!param.searched && param.key.rfind("trt_", 0) == 0) return messages::engine_anew();
  return first_reason(kGpuPrunings, param.key, std::nullopt, input);
}

Reason why_pointless_on_gpu(const ParamDef& param, const Value& value, const SpaceInput& input) {
  return on_gpu(input) ? first_reason(kGpuPrunings, param.key, value.to_text(), input) : std::nullopt;
}

}  // namespace ridgeline::search
